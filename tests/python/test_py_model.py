"""Models: loading, names, editing, building, pickling."""

import pickle
import sys
import warnings

import kansetsu as ks
import numpy as np
import pytest

PENDULUM = """<robot name="arm">
  <link name="ground"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
  <joint name="pivot" type="revolute"><parent link="ground"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="5"/></joint>
</robot>"""


def test_names_and_sizes(human):
    assert (human.nq, human.nv, human.base) == (35, 34, "free")
    assert human.name == "human28"
    assert human.mass == pytest.approx(69, abs=0.5)
    assert len(human.links) == len(human.joints) + 1 == len(human.parents)
    assert human.parents[0] == -1
    assert list(human.dofs)[:6] == ["base.omega_x", "base.omega_y", "base.omega_z", "base.v_x", "base.v_y", "base.v_z"]
    assert human.dofs["elbowL_y"] == human.coordinates["elbowL_y"] - 1  # a quaternion has four numbers
    assert human.dofs["base"] == slice(0, 6)
    assert human.coordinates["base"] == slice(0, 7)
    assert "soleL" in human.frames


def test_meshes_of_packages_and_of_folders_outside(tmp_path):
    """package_path and allow_path are what --package-path and --allow-path are to the command; hints name them so."""
    meshes = tmp_path / "ros" / "arm_meshes"
    meshes.mkdir(parents=True)
    robot = tmp_path / "work" / "robot"
    robot.mkdir(parents=True)
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    (meshes / "rod.obj").write_text(corners)
    shape = '<collision><geometry><mesh filename="{}"/></geometry></collision></link>'
    file = robot / "arm.urdf"
    file.write_text(PENDULUM.replace("</inertial></link>", "</inertial>" + shape.format("package://arm_meshes/rod.obj")))
    with pytest.warns(ks.FileWarning, match="package_path="):
        ks.load(file)
    assert any("package_path=" in d.hint for d in ks.check(file))
    for folders in (meshes.parent, str(meshes), [meshes.parent, str(robot)]):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ks.FileWarning)
            assert ks.load(file, package_path=folders).joints == ["pivot"]
            assert ks.World.load(file, package_path=folders).figures == ["arm"]
        assert not ks.check(file, package_path=folders)
    assert ks.check(file)  # for that call alone
    file.write_text(PENDULUM.replace("</inertial></link>", "</inertial>" + shape.format("../../ros/arm_meshes/rod.obj")))
    assert any("allow_path=" in d.hint and "--" not in d.hint for d in ks.check(file))
    assert not ks.check(file, allow_path=tmp_path)
    for wrong, error in ((tmp_path / "none", ks.Error), (3, TypeError), ([3], TypeError), (file, ks.Error)):
        with pytest.raises(error, match="allow_path"):
            ks.load(file, allow_path=wrong)
        with pytest.raises(error, match=r"World\.load: package_path"):
            ks.World.load(file, package_path=wrong)


def test_arrays_by_name(human):
    q = human.q0
    q["elbowL_y"] = -1.5
    assert q[human.coordinates["elbowL_y"]] == -1.5
    assert q["elbowL_y"] == -1.5
    assert q["base"].shape == (7,)
    assert human.random_configuration(1, count=3)["elbowL_y"].shape == (3,)
    assert human.q0["elbowL_y"] == 0  # each is new
    rows = ks.named(np.zeros((5, human.nv)), human.dofs)
    rows[..., "elbowL_y"] = 2
    assert rows[3, "elbowL_y"] == 2
    assert (rows * 2)["elbowL_y"][0] == 4  # names survive arithmetic
    assert type(rows.max()) is np.float64
    with pytest.raises(ks.Error, match=r"did you mean 'elbowL_y'"):
        q["elbowL_z"]
    with pytest.raises(ks.Error, match="has none of its own"):
        q[:6]["elbowL_y"]


def test_load_any_format(tmp_path):
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(PENDULUM)
    model = ks.load(urdf)
    assert (model.name, model.nv, model.lower_position[0], model.effort_limit[0]) == ("arm", 1, -2, 10)
    with pytest.warns(ks.FileWarning, match="MODEL071"):  # nothing resists a turn of the massless base
        assert ks.load(str(urdf), base="free").nv == 7
    mjcf = tmp_path / "two.xml"
    mjcf.write_text(
        "<mujoco><worldbody><body name='a'><joint name='j' axis='0 1 0'/><geom size='.1'/></body>"
        "<body name='b'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    assert ks.load(f"{mjcf}#a").nv == 1
    assert ks.load(f"{mjcf}#b").nv == 6
    with pytest.raises(ks.Error, match="known: a, b"):
        ks.load(mjcf)


SLIDER = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/>
  <geom size=".1" pos="0 0 -.2"/></body></worldbody></mujoco>"""


def test_texts_are_files_in_memory(tmp_path):
    """As ROS's robot_description: the same models and worlds as from files, and messages that say where."""
    for name, text, joint in (("arm.urdf", PENDULUM, "pivot"), ("arm.xml", SLIDER, "j")):
        (tmp_path / name).write_text(text)
        model, of_file = ks.parse(text), ks.load(tmp_path / name)
        assert model.joints == [joint]
        assert ks.rnea(model, [0.3]) == pytest.approx(ks.rnea(of_file, [0.3]), abs=0)
        world, loaded = ks.World.parse(text), ks.World.load(tmp_path / name)
        world.step(5), loaded.step(5)
        assert world.hash() == loaded.hash()
    assert ks.parse(PENDULUM, base="fixed").base == "fixed"
    with pytest.raises(ks.LoadError, match=r"^robot_description:3: error\[URDF") as caught:
        ks.parse(PENDULUM.replace('value="1"', 'value="heavy"'), file_name="robot_description")
    assert "warning[" not in str(caught.value)  # errors alone are written out
    assert str(caught.value).endswith("and 2 warnings in error.diagnostics")
    assert len(caught.value.diagnostics) == 3
    for empty in ("", " \n"):
        for call in (ks.parse, ks.World.parse):
            with pytest.raises(ks.Error, match="the text is empty"):
                call(empty)
    for load in (ks.load, ks.World.load, ks.check):
        with pytest.raises(ks.Error, match=r"the text of a file, not its name: parse\(\)"):
            load(PENDULUM)
    for parse in (ks.parse, ks.World.parse):
        with pytest.raises(ks.Error, match=r"the name of a file, not its text: load\(\)"):
            parse(str(tmp_path / "arm.urdf"))
    with pytest.raises(ks.Error, match="parse: base is 'loose'"):
        ks.parse(PENDULUM, base="loose")
    (tmp_path / "ball.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    mesh = '<collision><geometry><mesh filename="ball.obj"/></geometry></collision>'
    shaped = PENDULUM.replace("</inertial></link>", f"</inertial>{mesh}</link>")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ks.FileWarning)
        assert ks.parse(shaped, file_name=str(tmp_path / "text")).joints == ["pivot"]  # meshes are found from its folder


def test_joints_that_follow_others():
    b = ks.ModelBuilder("gripper").link("palm")
    for side, y in (("left", 1), ("right", -1)):
        b.link(side, 0.1, inertia=[1e-4, 1e-4, 1e-4]).joint(f"{side}_slide", "prismatic", "palm", side, [0, y, 0])
    model = b.gear("right_slide", "left_slide", 0.5, offset=0.01).build()
    assert model.followers == {"right_slide": ({"left_slide": 0.5}, 0.01)}
    poses = ks.fk(model, [0.2])
    assert poses["right"][1, 3] == pytest.approx(-(0.5 * 0.2 + 0.01), abs=1e-15)  # rounding
    assert ks.human28().followers == {}


def test_what_is_wrong_with_a_file(tmp_path):
    bad = tmp_path / "bad.urdf"
    bad.write_text(PENDULUM.replace('<mass value="1"/>', '<mass value="-1"/>').replace('child link="rod"', 'child link="rood"'))
    with pytest.raises(ks.LoadError) as caught:
        ks.load(bad)
    error = caught.value
    assert len([d for d in error.diagnostics if d.severity == "error"]) >= 2
    first = error.diagnostics[0]
    assert first.file.endswith("bad.urdf")
    assert first.line > 0
    assert error.code.startswith(("URDF", "MODEL"))
    assert error.code in str(error)
    assert [d.code for d in ks.check(bad)] == [d.code for d in error.diagnostics]
    with pytest.raises(ks.LoadError, match="human28"):  # the hint names the figures
        ks.load(tmp_path / "nothing.urdf")


def test_editing(human):
    locked = ks.lock_joints(human, ["elbowL_y"], human.q0)
    assert locked.nv == human.nv - 1
    assert ks.scale(human, 2.0, 3.0).mass == pytest.approx(3 * human.mass)
    assert np.array_equal(ks.with_gravity(human, [0, 0, -1.62]).gravity, [0, 0, -1.62])
    assert ks.with_base(human, "fixed").nv == 28
    arm = ks.extract_subtree(human, human.links[-1], "fixed")
    assert arm.nv < human.nv
    both = ks.attach(human, human.links[0], ks.pendulum(2), ks.pose([0, 0, 1]), "tail/")
    assert both.nv == human.nv + 2
    with pytest.raises(ks.Error, match="nowhere"):
        ks.lock_joints(human, ["nowhere"], human.q0)


def test_builder():
    builder = ks.ModelBuilder("arm")
    builder.link("ground").link("upper", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01)).link("lower", 1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    builder.joint("shoulder", "revolute", "ground", "upper", axis=(0, 1, 0), lower=-1, upper=1, damping=0.5)
    builder.joint("elbow", "ball", "upper", "lower", origin=(0, 0, -1), friction=[0.1, 0.2, 0.3])
    builder.frame("tip", "lower", (0, 0, -1)).collision("lower", ks.Capsule(0.05, 0.9), (0, 0, -0.5))
    model = builder.build()
    assert (model.nq, model.nv, model.joint_types) == (5, 4, ["revolute", "ball"])
    assert np.allclose(ks.fk(model, model.q0)["tip"][:3, 3], [0, 0, -2])
    with pytest.raises(ks.LoadError, match="MODEL"):
        ks.ModelBuilder("empty").build()
    with pytest.raises(ks.Error, match="revolute"):
        builder.joint("x", "hinge", "upper", "lower")
    with pytest.raises(TypeError, match="lowest"):
        builder.joint("x", "revolute", "upper", "lower", lowest=1)


@pytest.mark.parametrize("make", [ks.human28, ks.human28_ball, lambda: ks.rope(6), lambda: ks.chain(4)])
def test_pickle_keeps_everything(make):
    model = make()
    again = pickle.loads(pickle.dumps(model))
    assert (again.name, again.links, list(again.dofs)) == (model.name, model.links, list(model.dofs))
    q = model.random_configuration(3)
    v = np.linspace(-1, 1, model.nv)
    assert np.array_equal(ks.rnea(again, q, v, v), ks.rnea(model, q, v, v))  # to the bit: numbers are written with 17 digits
    assert ks.load("human28").to_urdf().startswith("<?xml")


def test_figures():
    assert "human28" in ks.figure_names()
    assert ks.chain(5, "free").nv == 10
    assert ks.rope(8).nv == 6 + 7
    for wrong in (0, -3, 10**9):
        with pytest.raises(ks.Error, match="links"):
            ks.pendulum(wrong)


def test_parts_missing_from_a_model_are_reported(tmp_path):
    model = tmp_path / "m.xml"
    body = "<body name='b'><joint name='j'/><geom size='1' nonsense='1'/></body>"
    model.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.warns(ks.PartialModelWarning, match="partial model: .*'nonsense'"):
        ks.load(model)
    assert [d.code for d in ks.check(model) if d.partial] == ["MJCF041"]
    model.write_text(model.read_text().replace(" nonsense='1'", ""))
    assert not any(d.partial for d in ks.check(model))


def test_several_names_at_once(human):
    q = human.q0
    q[["kneeL_y", "elbowL_y"]] = [0.1, 0.2]
    assert (q["kneeL_y"], q["elbowL_y"]) == (0.1, 0.2)
    rows = ks.named(np.tile(q, (3, 1)), human.coordinates)
    assert rows[:, ["elbowL_y", "kneeL_y"]].tolist() == [[0.2, 0.1]] * 3
    assert q[["base", "kneeL_y"]].shape == (8,)
    with pytest.raises(ks.Error, match="did you mean 'kneeL_y'"):
        q[["elbowL_y", "kneeL"]]
    assert human.lower_position["elbowL_y"] == human.lower_position[human.coordinates["elbowL_y"]]
    assert human.effort_limit["kneeL_y"] == human.effort_limit[human.dofs["kneeL_y"]]


DESCRIPTIONS = """
import types
DESCRIPTIONS = {name: types.SimpleNamespace(repository=name[:3]) for name in ("toy_description", "far_description", "raw_description")}
"""
REPOSITORIES = """
import types
REPOSITORIES = {name: types.SimpleNamespace(cache_path=name) for name in ("toy", "far", "raw")}
"""


def test_names_of_robot_descriptions(tmp_path, monkeypatch):
    """A package that looks like it: what its cache has is loaded, nothing else is asked for."""
    package, cache = tmp_path / "robot_descriptions", tmp_path / "cache"
    for folder in (package, cache / "toy", cache / "raw"):
        folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "_descriptions.py").write_text(DESCRIPTIONS)
    (package / "_repositories.py").write_text(REPOSITORIES)
    (package / "toy_description.py").write_text(f"URDF_PATH = {str(cache / 'toy' / 'toy.urdf')!r}")
    (package / "raw_description.py").write_text("XACRO_PATH = 'x'")
    (package / "far_description.py").write_text("raise SystemExit('fetched')")
    (cache / "toy" / "toy.urdf").write_text(ks.pendulum(2).to_urdf())
    for name in [m for m in sys.modules if m.split(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(cache))
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(ks.Error, match="pip install robot_descriptions"):
        ks.load("toy_description")
    monkeypatch.delitem(sys.modules, "robot_descriptions")
    monkeypatch.syspath_prepend(tmp_path)
    assert ks.load("toy_description").nv == 2
    assert ks.World.load("toy_description").figures
    assert not [d for d in ks.check("toy_description") if d.severity == "error"]
    for name, message in (
        ("far_description", "robot_descriptions pull far_description"),
        ("raw_description", "xacro"),
        ("toy2_description", "nor a name of robot_descriptions"),
    ):
        with pytest.raises(ks.Error, match=message):
            ks.load(name)
