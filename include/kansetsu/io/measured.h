#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/model/measured.h"

/// Reading and writing measurements: C3D, TRC, MOT and STO. Supported features and CAPnnn codes: docs/formats/measured.md.
namespace kansetsu::io {

/// Whether read_measurement() supports the extension: .c3d or .trc.
bool names_measurement(const std::filesystem::path& file);
/// .mot or .sto.
bool names_table(const std::filesystem::path& file);

Loaded<Measurement> read_measurement(const std::filesystem::path& file);
Loaded<Measurement> parse_c3d(std::string_view bytes, const std::string& file_name = {});
Loaded<Measurement> parse_trc(std::string_view text, const std::string& file_name = {});

/// Columns with several numbers per cell (Vec3 of OpenSim 4) become several columns: force_1, force_2, force_3.
Loaded<TimeTable> read_table(const std::filesystem::path& file);
Loaded<TimeTable> parse_table(std::string_view text, const std::string& file_name = {});

std::string to_trc(const Markers& markers, const std::string& name);
std::string to_sto(const TimeTable& table);
/// Little endian, floating point; force plates as signals of type 2.
Loaded<std::string> to_c3d(const Measurement& measured);

/// Write the result of to_trc(), to_sto() and to_c3d() to a file.
std::vector<Diagnostic> write_trc(const Markers& markers, const std::filesystem::path& file);
std::vector<Diagnostic> write_sto(const TimeTable& table, const std::filesystem::path& file);
std::vector<Diagnostic> write_c3d(const Measurement& measured, const std::filesystem::path& file);

}  // namespace kansetsu::io
