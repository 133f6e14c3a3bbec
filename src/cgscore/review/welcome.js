"use strict";
// Keeps the secret of this tab where pages of other ports cannot read it, and goes on to the page.
// The address with the token does not stay in the history.
sessionStorage.setItem("cgscore-tab", document.querySelector("meta[name=cgscore-tab]").content);
location.replace("/");
