from .fit import fit_on_ray as fit_on_ray
from .ray_cluster import RayWorkers as RayWorkers
