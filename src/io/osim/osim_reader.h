#pragma once

#include "io/xml.h"
#include "kansetsu/io/osim.h"

/// The parts of the OpenSim reader. Numbers and names are the text of elements.
namespace kansetsu::io::osim {

const XmlCodes& codes();

/// Parse a file or a text; false, and a diagnostic, on failure.
bool open_document(const std::filesystem::path& file, tinyxml2::XMLDocument& document, XmlReport& report);
bool parse_document(std::string_view text, tinyxml2::XMLDocument& document, XmlReport& report);

/// The trimmed text of a child element; empty if it is absent.
std::string child_text(const Element& element, const char* child);
/// The part after the last slash: sockets are paths.
std::string last_part(const std::string& path);
/// Numbers of a child element; `out` is unchanged if it is absent, or invalid (then an error is reported).
bool child_numbers(XmlReport& report, const Element& element, const char* child, std::span<double> out);
double child_number(XmlReport& report, const Element& element, const char* child, double otherwise);
Vec3<> child_vector(XmlReport& report, const Element& element, const char* child);
/// A list of any length.
std::vector<double> child_list(XmlReport& report, const Element& element, const char* child);
bool child_flag(const Element& element, const char* child, bool otherwise);
/// The elements in <SET><objects>, or in <SET>.
std::vector<const Element*> objects_of(const Element& element, const char* set);

/// A function element: <Constant>, <LinearFunction>, …
std::optional<CoordinateFunction> read_function(XmlReport& report, const Element& function);

/// Reads muscles and path actuators, after bodies and coordinates. @param root  of the document, for its defaults
void read_muscles(const Element& root, const Element& model, XmlReport& report, OsimModel& out);

}  // namespace kansetsu::io::osim
