#pragma once

/// The codes of diagnostics about OpenSim files. They are stable: docs/formats/osim.md lists them, and a test compares.
namespace kansetsu::io::osim {

inline constexpr char kFile[] = "OSIM001";
inline constexpr char kDocument[] = "OSIM002";
inline constexpr char kMissing[] = "OSIM010";
inline constexpr char kNumber[] = "OSIM011";
inline constexpr char kReference[] = "OSIM012";
inline constexpr char kFunction[] = "OSIM013";
inline constexpr char kJointKind[] = "OSIM014";
inline constexpr char kTree[] = "OSIM015";
inline constexpr char kName[] = "OSIM016";
inline constexpr char kTooMany[] = "OSIM017";
inline constexpr char kOutside[] = "OSIM018";
// Warnings.
inline constexpr char kIgnored[] = "OSIM030";
inline constexpr char kApproximated[] = "OSIM031";

}  // namespace kansetsu::io::osim
