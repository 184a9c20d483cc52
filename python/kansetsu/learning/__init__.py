"""Learning: tasks as Gymnasium environments, single and many at once (``pip install kansetsu[learning]``).

import gymnasium, kansetsu.learning

env = gymnasium.make("kansetsu/Walk-v0")
envs = gymnasium.make_vec("kansetsu/Quadruped-v0", num_envs=64, vector_kwargs={"threads": 2})
"""

try:
    import gymnasium as _gymnasium
except ImportError as error:
    raise ImportError("kansetsu.learning needs Gymnasium: pip install 'gymnasium>=1.1', or kansetsu[learning]") from error

from ._env import WorldEnv, WorldVectorEnv
from ._models import arm, quadruped
from ._task import Floating, Posture, Task
from ._tasks import TASKS, BarSwing, GetUp, Quadruped, Reach, Run, Stand, Walk

for _name in TASKS:
    _gymnasium.register(
        f"kansetsu/{_name}-v0",
        entry_point="kansetsu.learning:WorldEnv",
        vector_entry_point="kansetsu.learning:WorldVectorEnv",
        kwargs={"task": _name},
    )

__all__ = [
    "TASKS",
    "BarSwing",
    "Floating",
    "GetUp",
    "Posture",
    "Quadruped",
    "Reach",
    "Run",
    "Stand",
    "Task",
    "Walk",
    "WorldEnv",
    "WorldVectorEnv",
    "arm",
    "quadruped",
]
