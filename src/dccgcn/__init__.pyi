from . import datasets as datasets
from .datasets import load_dataset as load_dataset
from .errors import DccgcnError as DccgcnError
from .errors import Finding as Finding
from .graph import NodeGraph as NodeGraph
from .graph import Split as Split
from .graph import by_rate as by_rate
from .graph import per_class as per_class
from .methods import Prediction as Prediction
from .store import load_model as load_model
from .tables import from_igraph as from_igraph
from .tables import from_networkx as from_networkx
from .tables import from_pyg as from_pyg
from .tables import read_tables as read_tables
from .workflow import NodeClassifier as NodeClassifier
from .workflow import Result as Result
from .workflow import append_nodes as append_nodes
from .workflow import run as run
from .workflow import suggest_labels as suggest_labels

__version__: str
