// Generated from src/dccgcn/report/schema.py by python scripts/report_schema.py

/** Everything the page shows. */
export interface Report {
  /** Version of this format; rises when a field changes its name or meaning */
  format: 4;
  /** How many predictions can be trusted */
  headline: string;
  /** What the headline hides: classes never predicted, never trusted */
  warnings: string[];
  /** Three sentences: the task, what is called trusted, and how that is known */
  verdict: string[];
  /** How many predictions can be trusted, and why. Counts are those of the whole graph */
  trust: TrustSummary;
  /** The size of the graph */
  graph: GraphSummary;
  /** All classes; elsewhere a class is its position in this list */
  classes: ClassSummary[];
  /** Of the classes that are never predicted or rare */
  rankings: ClassRanking[];
  /** Empty for a method without channels */
  channels: ChannelSummary[];
  /** Entry [i][j]: predictions for which the first channel predicts class i and the second class j */
  channel_contingency: number[][] | null;
  /** The nodes on the page, one list per column, one entry per node */
  nodes: Nodes;
  /** The rows of `predictions.csv` for the nodes shown */
  predictions_csv: string;
  /** The drawing of the graph */
  map: GraphMap;
  /** `null` without test nodes */
  calibration: Calibration | null;
  /** At most 20 nodes whose labels would help most */
  label_next: LabelSuggestion[];
  /** `label_next` as CSV */
  label_next_csv: string;
  /** About the graph and its training labels, then about the run */
  findings: ReportFinding[];
  /** How the run was made, and how to repeat it */
  run: RunSummary;
  /** `null` if no predictions were checked by a person */
  audit: AuditSummary | null;
}

/** How many predictions can be trusted, and why. Counts are those of the whole graph. */
export interface TrustSummary {
  /** Why a prediction is trusted: `trust`, the method's own estimate that it is right; `estimate`, the same from fewer labels than it was tested with; without one, `agreement`, the channels predict the same class; without channels, `probability` of the class */
  basis: "trust" | "estimate" | "agreement" | "probability";
  /** What such a prediction is called: `trusted`, or `estimated right` */
  word: string;
  /** Smallest trust or probability of a trusted prediction; `null` for `agreement` */
  threshold: number | null;
  /** Nodes that were not trained on */
  predictions: number;
  /** Predictions that can be trusted */
  trusted: number;
  /** The other predictions */
  doubtful: number;
  /** Mean confidence of the trusted predictions */
  mean_confidence: number | null;
  /** Mean confidence of the doubtful predictions */
  mean_confidence_doubtful: number | null;
  /** Test nodes: their true class is known and was not trained on */
  test_nodes: number;
  /** Accuracy of the trusted predictions on the test nodes */
  accuracy_trusted: number | null;
  /** Accuracy of the doubtful predictions on the test nodes */
  accuracy_doubtful: number | null;
}

/** The size of the graph. */
export interface GraphSummary {
  /** Name of the graph */
  name: string;
  /** Number of nodes */
  nodes: number;
  /** Number of edges */
  edges: number;
  /** Number of features of a node */
  features: number;
  /** Number of training labels */
  labels: number;
  /** Column of the table whose classes are predicted, if there is a table */
  target: string | null;
}

/** One class and the predictions of it. */
export interface ClassSummary {
  /** Name of the class */
  name: string;
  /** Its colour on the page, as `#rrggbb` */
  colour: string;
  /** Training labels of this class */
  labels: number;
  /** Trusted predictions of this class */
  trusted: number;
  /** Doubtful predictions of this class */
  doubtful: number;
  /** Mean confidence of the predictions of this class */
  expected: number | null;
  /** Of the test nodes predicted as this class, the share that is right */
  precision: number | null;
  /** Of the test nodes of this class, the share predicted as it */
  recall: number | null;
  /** In two or three words, such as `mostly trusted` or `never predicted` */
  verdict: string;
}

/** The nodes that most probably belong to a class that is rare or never predicted. */
export interface ClassRanking {
  /** Position of the class in `classes` */
  class_position: number;
  /** At most 20, by falling probability */
  nodes: RankedNode[];
  /** Average precision of the ranking on the test nodes */
  average_precision: number | null;
  /** Share of the test nodes of this class among the first `test_nodes` of the ranking */
  recall: number | null;
  /** Test nodes of this class */
  test_nodes: number | null;
}

/** One channel: a classifier on one view of the nodes. */
export interface ChannelSummary {
  /** Name of the channel */
  name: string;
  /** What it uses, in two or three words */
  title: string;
  /** What it uses */
  description: string;
  /** Its weight in the final prediction; the weights sum to 1 */
  weight: number | null;
  /** Accuracy of its own predictions on the test nodes */
  accuracy: number | null;
}

/** The nodes on the page, one list per column, one entry per node. */
export interface Nodes {
  /** Which nodes are shown */
  note: string;
  /** Ids as text */
  id: string[];
  /** Predicted class */
  prediction: number[];
  /** Estimated probability that the prediction is right, in thousandths: the trust where the method estimates one, else the probability of the class */
  confidence: number[];
  /** 1 if the prediction is trusted, else 0 */
  trusted: number[];
  /** 1 if the channels disagreed and the prediction was corrected with confident neighbours, else 0 */
  corrected: number[] | null;
  /** Position in `roles` */
  role: number[];
  /** Names of the roles: train, validation, test, unused, unlabelled */
  roles: string[];
  /** True class; -1 if unknown */
  label: number[];
  /** Number of neighbours in the graph */
  degree: number[];
  /** By name: `final`, and each channel */
  class_probabilities: Record<string, TopClasses>;
  /** At most 6 neighbours: those with a training label first, then by confidence */
  neighbours: number[][];
  /** Position in `communities` of the map; -1 for none of them */
  community: number[];
  /** The nodes' own rows of the user's table; empty without a table */
  columns: TableColumn[];
}

/** The drawing of the graph. */
export interface GraphMap {
  /** Which nodes and edges are drawn */
  note: string;
  /** Nodes drawn */
  nodes: number[];
  /** Horizontal positions in ten-thousandths */
  x: number[];
  /** Vertical positions in ten-thousandths */
  y: number[];
  /** Edges as u, v, u, v, … */
  edges: number[];
  /** At most 24 communities with a hundredth of the nodes, largest first */
  communities: Community[];
}

/** Confidence compared with accuracy on the test nodes. */
export interface Calibration {
  /** Number of test nodes */
  nodes: number;
  /** Their accuracy */
  accuracy: number;
  /** Their mean confidence */
  mean_confidence: number;
  /** Expected calibration error over `bins` */
  ece: number;
  /** Reliability diagram: ten bins of equal mass, empty ones left out */
  bins: CalibrationBin[];
  /** Share of the nodes predicted, most confident first */
  coverage: number[];
  /** Error rate at each coverage */
  risk: number[];
  /** Area under the risk-coverage curve */
  aurc: number;
}

/** A node to label next. */
export interface LabelSuggestion {
  /** Id as text */
  id: string;
  /** Why its label would help */
  reason: string;
}

/** Something unusual about the graph, its labels or the run. */
export interface ReportFinding {
  /** error: cannot train; warning: predictions suffer; note: good to know */
  level: "error" | "warning" | "note";
  /** Short stable name, such as `isolated-nodes` */
  code: string;
  /** What was found */
  text: string;
  /** What it means for the predictions; may be empty */
  meaning: string;
}

/** How the run was made, and how to repeat it. */
export interface RunSummary {
  /** Name of the method */
  method: string;
  /** The method in one sentence */
  description: string;
  /** Where the method was published */
  reference: string;
  /** Accuracy on the test nodes */
  accuracy: number | null;
  /** Macro-F1 on the test nodes */
  macro_f1: number | null;
  /** The command that made the run */
  command: string | null;
  /** Seed of the training */
  seed: number;
  /** Which nodes trained, validated and tested */
  split: SplitSummary;
  /** Training time */
  seconds: number;
  /** Threads used */
  threads: number;
  /** When the report was made: ISO 8601, UTC */
  created: string;
  /** All settings of the method */
  settings: Setting[];
  /** Version of Python and of each package used */
  versions: Record<string, string>;
}

/** Trusted predictions that a person checked, and the exact bound that follows: audit.json of a run folder. */
export interface AuditSummary {
  /** When the predictions were drawn, as ISO 8601, UTC */
  date: string;
  /** Who drew them */
  who: string;
  /** What counted as trusted */
  trusted: string;
  /** Trusted predictions at that time, from which was drawn at random */
  population: number;
  /** Number of checks chosen before the first */
  planned: number;
  /** Predictions checked that the bound counts */
  checked: number;
  /** Of these, found wrong or impossible to tell */
  errors: number;
  /** Probability with which the bound holds */
  confidence: number;
  /** `fixed`: hypergeometric, for the planned number of checks; `sequential`: holds at any time */
  kind: "fixed" | "sequential";
  /** Upper bound on the wrong ones among all trusted predictions */
  wrong_at_most: number;
  /** The same as a share of them */
  share_at_most: number;
}

/** A node that may belong to the class it is ranked for. */
export interface RankedNode {
  /** Id as text */
  id: string;
  /** Probability of the class, in thousandths */
  probability: number;
  /** Predicted class */
  prediction: number;
}

/** The most probable classes of each node: at most 8; for the channels of a method with more than two, 1. */
export interface TopClasses {
  /** Classes, most probable first, node after node */
  classes: number[];
  /** Their probabilities in thousandths */
  probabilities: number[];
}

/** One column of the user's table. */
export interface TableColumn {
  /** Name of the column */
  name: string;
  /** Cells as text, long ones shortened; empty if missing */
  cells: string[];
}

/** A group of nodes with many edges among them. */
export interface Community {
  /** Nodes of the whole graph that belong to it */
  nodes: number;
  /** Of these, nodes that were not trained on */
  predictions: number;
  /** Of the predictions, those that can be trusted */
  trusted: number;
  /** Class that is predicted most often */
  prediction: number;
  /** Share of its nodes that are predicted as this class */
  share: number;
  /** Id of its node with most edges, as text */
  hub: string;
  /** Horizontal position of its name in ten-thousandths */
  x: number;
  /** Vertical position of its name in ten-thousandths */
  y: number;
}

/** One bin of the reliability diagram. */
export interface CalibrationBin {
  /** Test nodes in the bin */
  count: number;
  /** Their mean confidence */
  confidence: number;
  /** Their accuracy */
  accuracy: number;
}

/** Which nodes trained, validated and tested. */
export interface SplitSummary {
  /** How the split was made */
  kind: string;
  /** Seed it was drawn with */
  seed: number | null;
  /** SHA-256 of the split */
  hash: string;
}

/** One setting of the method. */
export interface Setting {
  /** Name of the option */
  name: string;
  /** Its value: a string as it is, anything else as JSON */
  value: string;
  /** What it does */
  description: string;
}
