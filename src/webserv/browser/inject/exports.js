// The isolated world's only global name; Python calls these.

globalThis.__webserv = {
  element: elementOf, collect, waitQuiet, aim, frameOffset, editable, selectContent, afterTyping, setValue, choose, focusOn,
  scrollPage, fileField, pageText,
};
