"""What the tests of the Python package share. script/test puts the package of the build folder on PYTHONPATH."""

import pytest

ks = pytest.importorskip("kansetsu", reason="the Python package is not built")


@pytest.fixture(scope="session")
def human():
    return ks.human28()


@pytest.fixture
def standing():
    """A world in which human28 stands on a floor, held by its joints."""
    world = ks.World.load("human28")
    man = world["human28"]
    joints = {joint: {"value": 0.0, "kp": 300.0, "kd": 15.0} for joint in man.model.joints}
    world.add_controller("posture", man, "pd", joints)
    return world
