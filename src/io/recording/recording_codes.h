#pragma once

/// The codes of diagnostics about recordings. They are stable: docs/formats/recording.md lists them, and a test compares.
namespace kansetsu::io::recording {

// Reading: errors.
inline constexpr char kCannotRead[] = "REC001";
inline constexpr char kNotMcap[] = "REC002";
inline constexpr char kForeign[] = "REC003";
inline constexpr char kNewer[] = "REC004";
inline constexpr char kBadModel[] = "REC005";
inline constexpr char kBadScene[] = "REC006";
inline constexpr char kTooMuch[] = "REC007";
// Reading: warnings.
inline constexpr char kInterrupted[] = "REC010";
inline constexpr char kDamaged[] = "REC011";
inline constexpr char kBadFrame[] = "REC012";
// Reading: clips.
inline constexpr char kNoColumn[] = "REC030";
inline constexpr char kBadRow[] = "REC031";
inline constexpr char kNoFrames[] = "REC032";
inline constexpr char kNoFigure[] = "REC033";
inline constexpr char kSameTime[] = "REC034";
// Writing.
inline constexpr char kCannotWrite[] = "REC020";
inline constexpr char kUnknownFormat[] = "REC021";
inline constexpr char kMeshLeftOut[] = "REC022";
inline constexpr char kTooLarge[] = "REC023";

}  // namespace kansetsu::io::recording
