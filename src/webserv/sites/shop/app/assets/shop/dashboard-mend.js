// Small repairs of Oscar's dashboard script.
(function (oscar) {
    "use strict";
    // The order page calls a function that Oscar no longer has.
    oscar.dashboard.orders.initTable = oscar.dashboard.orders.initTable || function () {};
    const init = oscar.dashboard.init;
    oscar.dashboard.init = function (options) {
        // TinyMCE (GPL) warns on the console unless its licence is named.
        return init.call(this, Object.assign({ tinyConfig: { license_key: "gpl" } }, options));
    };
})(window.oscar);
