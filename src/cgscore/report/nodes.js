"use strict";
// Building elements; texts are only ever set as text, never as markup.

const nodes = (() => {
  function make(tag, properties, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name in node) node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  return {
    byId: (id) => document.getElementById(id),
    make,
    text: (value, cls) => make("bdi", { className: cls || "", title: value }, value),
  };
})();
