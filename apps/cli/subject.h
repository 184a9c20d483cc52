#pragma once

#include <string>

#include "cli/command.h"
#include "kansetsu/io/subject.h"

/// Command arguments that are subjects of AddBiomechanics (.b3d).
namespace kansetsu::cli {

io::Subject subject_or_fail(const std::string& file);
/// The trial of this name or number (from 1); empty: the first.
const io::SubjectTrial& trial_or_fail(const io::Subject& subject, const std::string& trial);

std::string subject_text(const io::Subject& subject);
std::string subject_json(const io::Subject& subject);

/// The extension selects what is written of a trial: .osim (the model), .mot (coordinates), .sto (forces), .trc (markers).
Exit convert_subject(const std::string& in, const std::string& trial, const std::string& out);

}  // namespace kansetsu::cli
