#pragma once

/// The codes of mesh diagnostics. They are stable: docs/formats/mesh.md lists them, and a test compares the two.
namespace kansetsu::io::mesh {

inline constexpr char kMissingFile[] = "MESH001";
inline constexpr char kNotAFile[] = "MESH002";
inline constexpr char kUnreadable[] = "MESH003";
inline constexpr char kTooLarge[] = "MESH004";
inline constexpr char kFormat[] = "MESH005";
inline constexpr char kEmpty[] = "MESH006";
inline constexpr char kTruncated[] = "MESH007";
inline constexpr char kNumber[] = "MESH008";
inline constexpr char kSyntax[] = "MESH009";
inline constexpr char kIndex[] = "MESH010";
inline constexpr char kScale[] = "MESH011";
// Warnings.
inline constexpr char kDegenerate[] = "MESH020";
inline constexpr char kTrailing[] = "MESH021";

}  // namespace kansetsu::io::mesh
