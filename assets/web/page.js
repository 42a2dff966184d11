"use strict";

// textual.js marks the body when it is connected, and when the connection has ended.
window.addEventListener("DOMContentLoaded", () => {
  const again = document.getElementById("again");
  again.addEventListener("click", () => window.location.reload());
  new MutationObserver(() => {
    const marks = document.body.classList;
    if (marks.contains("-closed")) {
      again.focus();
    } else if (marks.contains("-loaded")) {
      document.querySelector("textarea.xterm-helper-textarea").focus();
    }
  }).observe(document.body, { attributeFilter: ["class"] });
});
