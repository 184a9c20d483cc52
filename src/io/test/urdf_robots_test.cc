#include <map>
#include <set>

#include "io/test/urdf_support.h"

using namespace kansetsu;
using namespace kansetsu::io;
using namespace kansetsu::io::test;

TEST_CASE("[data] recorded robots load, and what is remarked upon is worth it") {
  // Missing meshes, ignored elements and attributes, unused ones, materials; the rest concerns the physics (MODELnnn).
  const std::set<std::string> expected{"URDF020", "URDF021", "URDF022", "URDF024", "URDF025",
                                       "URDF027", "URDF028", "URDF033", "URDF034"};
  for (const auto& file : data_files("robots")) {
    CAPTURE(file);
    const auto model = load_urdf(file);
    INFO(to_string(model.diagnostics));
    REQUIRE(model);
    for (const Diagnostic& d : model.diagnostics) {
      CHECK(d.line > 0);
      CHECK(d.file == file.string());
      CHECK(d.path.starts_with("robot["));
      CHECK((d.code.starts_with("MODEL") || expected.contains(d.code)));
    }
  }
}

TEST_CASE("[data] recorded robots have as many links and degrees of freedom as their files") {
  struct Size {
    int nv, couplings, links;
  };
  // Counted in the files by a few lines of Python: joints by type, less those with <mimic>; <mimic>; <link>.
  const std::map<std::string, Size> sizes{{"5bar_linkage/robot.urdf", {6, 0, 8}},
                                          {"cassie_like/robot.urdf", {19, 0, 26}},
                                          {"digit_like/robot.urdf", {27, 0, 36}},
                                          {"digit_like_2legs/robot.urdf", {30, 0, 46}},
                                          {"talos_like/robot.urdf", {13, 0, 18}},
                                          {"urdf/allegro_left_hand.urdf", {16, 0, 21}},
                                          {"urdf/anymal_c.urdf", {12, 0, 78}},
                                          {"urdf/atlas_minimal_contact.urdf", {30, 0, 60}},
                                          {"urdf/double_pendulum_simple.urdf", {2, 0, 4}},
                                          {"urdf/dual_iiwa14_polytope_collision.urdf", {14, 0, 21}},
                                          {"urdf/hyq_no_sensors.urdf", {12, 0, 19}},
                                          {"urdf/icub_reduced.urdf", {29, 0, 56}},
                                          {"urdf/iiwa14_primitive_collision.urdf", {7, 0, 11}},
                                          {"urdf/kinova.urdf", {6, 0, 13}},
                                          {"urdf/panda.urdf", {8, 1, 13}},
                                          {"urdf/panda_arm_hand.urdf", {9, 0, 12}},
                                          {"urdf/pr2_gripper.urdf", {2, 0, 5}},
                                          {"urdf/robotiq_c2_model.urdf", {1, 5, 10}},
                                          {"urdf/romeo.urdf", {33, 22, 82}},
                                          {"urdf/simple_humanoid.urdf", {29, 0, 31}},
                                          {"urdf/solo12.urdf", {12, 0, 17}},
                                          {"urdf/ur5_gripper.urdf", {6, 0, 11}},
                                          {"urdf/ur5_robot.urdf", {6, 0, 11}}};
  for (const auto& file : data_files("robots")) {
    CAPTURE(file);
    const Size& size = sizes.at((file.parent_path().filename() / file.filename()).string());
    const auto model = load_urdf(file);
    REQUIRE(model);
    CHECK(model.value->nv() == size.nv);
    CHECK(model.value->link_count() == size.links);
    CHECK(model.value->description().couplings.size() == static_cast<std::size_t>(size.couplings));
  }
}

TEST_CASE("[data] odd files are taken or refused for the right reason") {
  // File, and the code of the error that refuses it; empty: accepted. From MANIFEST.md, but for what is said at the lines.
  const std::map<std::string, std::string> outcome{
      {"dart__invalid", "URDF007"},
      {"dart__issue838", ""},
      {"dart__joint_properties", ""},
      {"dart__missing_mesh", ""},                // DART refuses; a model without its looks is still a model
      {"dart__missing_package", ""},             // the same
      {"drake__joint_parsing_test", "URDF013"},  // Drake accepts: it has curvilinear joints
      {"drake__joint_parsing_test_tag_mismatch_1", "URDF013"},
      {"drake__two_unnamed_boxes", ""},
      {"drake__zero_dof_robot", ""},
      {"drake_inline__BodyNameBroken", "URDF010"},
      {"drake_inline__JointLinkMissing", "MODEL007"},
      {"drake_inline__JointNameBroken", "URDF010"},
      {"drake_inline__JointNoChild", "URDF010"},
      {"drake_inline__JointNoParent", "URDF010"},
      {"drake_inline__JointZeroAxis", "URDF012"},
      {"drake_inline__MimicBadJoint", "MODEL050"},
      {"drake_inline__MimicNoJoint", "URDF010"},
      {"drake_inline__MimicSameJoint", "MODEL052"},
      {"pinocchio__3DOF_planar", ""},
      {"pinocchio__link_and_joint_identical_name", ""},
      {"ros_urdf__fail_pr2_desc_bracket", "URDF011"},
      {"ros_urdf__fail_pr2_desc_double", "MODEL003"},
      {"ros_urdf__fail_pr2_desc_double_joint", "MODEL004"},
      {"ros_urdf__fail_pr2_desc_loop", "MODEL011"},
      {"ros_urdf__fail_pr2_desc_two_trees", "MODEL007"},
      {"ros_urdf__fail_three_links_one_joint", "URDF007"},
      {"ros_urdf__no_visual", ""},
      {"ros_urdf__one_link", ""},
      {"ros_urdf__pr2_desc_no_joint", ""},
      {"ros_urdf__singularity", ""},
      {"ros_urdf__test_robot", ""},
      {"ros_urdf__two_links_one_joint", ""},
      {"sdformat__fixed_joint_reduction_simple", ""},
      {"sdformat__joint_mimic_rack_pinion", ""},
      {"sdformat__parser_urdf_atlas", ""},
      {"sdformat_inline__ParseWhitespace", ""},
      {"sdformat_inline__explicit_zero_mass", ""},            // sdformat drops massless links; here they are legal
      {"sdformat_inline__no_inertial_block", ""},             // the same
      {"sdformat_inline__zero_mass_intermediate_link", ""}};  // the same
  for (const auto& file : data_files("odd_models/urdf")) {
    CAPTURE(file);
    REQUIRE(outcome.contains(file.stem().string()));
    const std::string& code = outcome.at(file.stem().string());
    const auto model = load_urdf(file);
    INFO(to_string(model.diagnostics));
    CHECK(model.value.has_value() == code.empty());
    if (code.empty()) continue;
    const Diagnostic* reason = find(model.diagnostics, code);
    REQUIRE(reason);
    CHECK(reason->is_error());
    CHECK(reason->line > 0);
  }
}
