#pragma once

#include "io/xml.h"
#include "kansetsu/io/osim.h"

/// The parts of the reader of OpenSim files. Numbers and names stand in the text of elements.
namespace kansetsu::io::osim {

const XmlCodes& codes();

/// The document of a file, or of a text; problems are reported. Null if there is none.
bool open_document(const std::filesystem::path& file, tinyxml2::XMLDocument& document, XmlReport& report);
bool parse_document(std::string_view text, tinyxml2::XMLDocument& document, XmlReport& report);

/// The text of a child element without blanks around it; empty if it is absent.
std::string child_text(const Element& element, const char* child);
/// The part after the last slash: sockets are paths.
std::string last_part(const std::string& path);
/// Numbers of a child element; `out` keeps its values if the child is absent, or bad (then an error is reported).
bool child_numbers(XmlReport& report, const Element& element, const char* child, std::span<double> out);
double child_number(XmlReport& report, const Element& element, const char* child, double otherwise);
Vec3<> child_vector(XmlReport& report, const Element& element, const char* child);
/// Any number of numbers.
std::vector<double> child_list(XmlReport& report, const Element& element, const char* child);
bool child_flag(const Element& element, const char* child, bool otherwise);
/// Elements in <SET><objects>, or in <SET> itself.
std::vector<const Element*> objects_of(const Element& element, const char* set);

/// The function element in `parent`: <Constant>, <LinearFunction>, …
std::optional<CoordinateFunction> read_function(XmlReport& report, const Element& function);

/// Muscles and path actuators, when bodies and coordinates are known. @param root  of the document, whose defaults count
void read_muscles(const Element& root, const Element& model, XmlReport& report, OsimModel& out);

}  // namespace kansetsu::io::osim
