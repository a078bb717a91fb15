// Loads the plugins that this page's fields need; runs at the end of the body, where all fields are known.
(function ($) {
    "use strict";
    const base = document.currentScript.dataset.base;
    const plugins = [
        { name: "select2", fields: "select", files: ["select2/select2.min.js"] },
        {
            name: "datetimepicker",
            fields: "[data-oscarWidget]",
            files: ["bootstrap4-datetimepicker/moment.min.js", "bootstrap4-datetimepicker/tempusdominus-bootstrap-4.min.js"],
        },
        { name: "inputmask", fields: "[data-inputmask]", files: ["inputmask/jquery.inputmask.min.js"] },
        { name: "sortable", fields: "ol.upload-image, .btn-handle", files: ["jquery-sortable/jquery-sortable-min.js"] },
        {
            name: "tinymce",
            fields: "textarea.wysiwyg, form.wysiwyg textarea",
            files: ["tinymce/tinymce.min.js", "tinymce/jquery.tinymce.min.js"],
        },
    ];
    for (const plugin of plugins) {
        if (document.querySelector(plugin.fields)) {
            for (const file of plugin.files) {
                document.write('<script src="' + base + file + '"></scr' + "ipt>");
            }
        } else if (plugin.name !== "datetimepicker") {
            // Oscar calls these for every page and asks only for the date picker whether it is there.
            $.fn[plugin.name] = function () { return this; };
        }
    }
    if (document.querySelector(".related-widget-wrapper")) {
        document.write('<script src="' + base + 'oscar/RelatedObjectLookups.js"></scr' + "ipt>");
    }
})(jQuery);
