import { startMatrix } from "./channels";
import { startCharts } from "./charts";
import { startClasses } from "./classes";
import { startColours, startFilter, startShare } from "./controls";
import { data, given, nodes, rowOf } from "./data";
import { startMap } from "./map";
import { startNext } from "./next";
import { startPanel } from "./panel";
import { startPictures } from "./pictures";
import { startSearch } from "./search";
import { startTable } from "./table";
import { show } from "./store";
import { startTheme } from "./theme";

startShare();
startFilter();
startClasses();
startMatrix();
startColours();
startPanel();
startSearch();
startTable();
startNext();
startCharts();
startPictures();
startMap();
startTheme();

// an example, so that the reader sees what there is to see of a node
const doubts = data.map.nodes.filter((row) => !given(row)).sort((a, b) => nodes.score[a]! - nodes.score[b]!);
const example = data.label_next.map(({ id }) => rowOf(id)).find((row) => row !== undefined) ?? doubts[0];
if (example !== undefined) show(example);

window.addEventListener("beforeprint", () => document.querySelectorAll<HTMLDetailsElement>("main details").forEach((part) => (part.open = true)));
