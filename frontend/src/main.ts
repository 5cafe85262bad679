import { startEvidence } from "./channels";
import { startCharts } from "./charts";
import { startClasses } from "./classes";
import { startCommunities } from "./communities";
import { startColours, startFilter, startShare } from "./controls";
import { data, isTraining, nodes, rowOf } from "./data";
import { startMap } from "./map";
import { startNav } from "./nav";
import { startNext } from "./next";
import { startPanel } from "./panel";
import { startRankings } from "./rankings";
import { startSearch } from "./search";
import { startTable } from "./table";
import { setSelected } from "./store";
import { startTheme } from "./theme";

startNav();
startShare();
startFilter();
startClasses();
startRankings();
startCommunities();
startEvidence();
startColours();
startPanel();
startSearch();
startTable();
startNext();
startCharts();
startMap();
startTheme();

// select a node as an example of what the panel shows
const leastConfident = data.map.nodes.filter((row) => !isTraining(row)).sort((a, b) => nodes.confidence[a]! - nodes.confidence[b]!);
const example = data.label_next.map(({ id }) => rowOf(id)).find((row) => row !== undefined) ?? leastConfident[0];
if (example !== undefined) setSelected(example);

window.addEventListener("beforeprint", () => document.querySelectorAll<HTMLDetailsElement>("main details").forEach((part) => (part.open = true)));
