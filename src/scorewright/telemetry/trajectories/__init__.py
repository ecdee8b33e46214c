"""What agents did, as files of messages or steps tell it: read, and made items for evaluators."""

from scorewright.telemetry.trajectories.forms import EXPECTED, rows_of, trajectory_of
from scorewright.telemetry.trajectories.item import trajectory_item
from scorewright.telemetry.trajectories.model import Trajectory

__all__ = ["EXPECTED", "Trajectory", "rows_of", "trajectory_item", "trajectory_of"]
