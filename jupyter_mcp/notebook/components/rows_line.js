// One row of a list as elements: its cells, fold, tick, picture and badges. `list` is the view that it stands in.
// All words come from outside and become text.

function rowLine(list, index, row) {
  const height = list.get("row_height");
  const node = element("div", {
    role: "row",
    class: "jmcp-rows-row jmcp-rows-line",
    id: `${list.id}-${index}`,
    "aria-rowindex": String(index + (list.get("heads") ? 2 : 1)),
  });
  node.dataset.index = String(index);
  node.style.cssText = `top:${index * height}px;height:${height}px;grid-template-columns:${list.template}`;
  if (!row) {
    node.append(element("span", { role: "gridcell", class: "jmcp-rows-cell jmcp-rows-detail" }, "…"));
    return node;
  }
  if (list.get("tree")) node.setAttribute("aria-level", String((row.depth ?? 0) + 1));
  if (row.open !== undefined) node.setAttribute("aria-expanded", String(row.open));
  if (list.get("multiple") && !row.fixed) node.setAttribute("aria-selected", String(list.get("selected").includes(row.id)));
  if (row.id === list.get("current")) node.setAttribute("aria-current", "true");
  list.columns.forEach((column, at) => node.append(at === 0 ? firstCell(list, row, column) : rowCell(row, column)));
  return node;
}

function firstCell(list, row, column) {
  const words = element("div", { class: "jmcp-rows-words" });
  words.append(element("div", { class: column.kind === "text" ? null : `jmcp-rows-${column.kind}` }, row.cells[column.at]));
  if (row.detail) words.append(element("div", { class: "jmcp-rows-detail" }, row.detail));
  const cell = element("div", { role: "gridcell", class: "jmcp-rows-cell jmcp-rows-first", title: row.cells[column.at] });
  cell.style.paddingLeft = `${(row.depth ?? 0) * 16}px`;
  if (list.get("multiple") && !row.fixed) cell.append(rowTick(list, row));
  if (row.open !== undefined) cell.append(element("span", { class: "jmcp-rows-twist", "aria-hidden": "true" }, row.open ? "▾" : "▸"));
  else if (list.get("tree") && !list.get("multiple")) cell.append(element("span", { class: "jmcp-rows-twist" }));
  if (row.icon) cell.append(rowIcon(list, row.icon));
  cell.append(words);
  const apart = list.columns.some((one) => one.kind === "badges");
  const badges = rowBadges({ marks: row.marks, badges: apart ? [] : row.badges });
  if (badges.childElementCount) cell.append(badges);
  return cell;
}

function rowTick(list, row) {
  const on = list.get("selected").includes(row.id);
  return element("span", { class: "jmcp-rows-tick", "aria-hidden": "true" }, on ? "☑" : "☐");
}

function rowIcon(list, key) {
  const made = element("img", { class: "jmcp-rows-icon", alt: "" });
  const url = list.pictures.get(key);
  if (url === undefined) {
    list.pictures.set(key, "");
    list.send("icon", { key });
  }
  if (url) made.src = url;
  else made.style.visibility = "hidden";
  return made;
}

function rowBadges(row) {
  const made = element("span", { class: "jmcp-rows-badges" });
  for (const mark of row.marks ?? []) made.append(element("span", { class: "jmcp-rows-badge jmcp-mark" }, mark));
  for (const [text, tone] of row.badges ?? []) made.append(element("span", { class: `jmcp-rows-badge jmcp-${tone || "plain"}` }, text));
  return made;
}

function rowCell(row, column) {
  if (column.kind === "badges") {
    const made = element("span", { role: "gridcell", class: "jmcp-rows-cell" });
    made.append(rowBadges({ badges: row.badges }));
    return made;
  }
  const kind = column.kind === "text" ? "" : ` jmcp-rows-${column.kind}`;
  return element("span", { role: "gridcell", class: `jmcp-rows-cell${kind}`, title: row.cells[column.at] }, row.cells[column.at]);
}
