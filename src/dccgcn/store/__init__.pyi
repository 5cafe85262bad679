from .card import model_card as model_card
from .model import Model as Model
from .model import load_model as load_model
from .model_io import CARD as CARD
from .run_folder import AUDIT as AUDIT
from .run_folder import LABELS as LABELS
from .run_folder import check_run_folder as check_run_folder
from .run_folder import save_run as save_run
