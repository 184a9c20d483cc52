#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

/// What the records of files consist of, told once. Readers and writers of TOML and JSON, the checks of numbers and a test of
/// docs/formats follow it: model/model_schema.h, scene/scene_schema.h.
namespace kansetsu {

/// The words by which files name the values of an enumeration, in their order.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords{};
template <class Enum>
concept HasWords = std::is_enum_v<Enum> && !kWords<Enum>.empty();
template <HasWords Enum>
constexpr std::string_view word_of(Enum x) {
  return kWords<Enum>[std::size_t(x)];
}

/// Which numbers make sense.
enum class NumberRange {
  kFinite,
  kNotNegative,  ///< finite and not below zero
  kPositive,     ///< finite and above zero
  kLimit,        ///< not below zero; infinite: there is no limit
  kLower,        ///< may be −∞
  kUpper,        ///< may be ∞
  kOther,        ///< checked by code of its own
};

/// When a key is written, and whether it has to be there.
enum class Presence {
  kOptional,  ///< written where it differs from the default
  kAlways,    ///< always written
  kRequired,  ///< the same, and missing in a file it is an error
};

/// How TOML has a member. Lists of records are tables whose name is the key in the singular.
enum class Nesting {
  kOwnTable,   ///< under its key; a record is a table of its own
  kSameTable,  ///< the keys of a record are among those of the record that it is a member of
  kByHand,     ///< in a way of its own, by code of the reader and of the writer
};

/// One member of a record.
template <class Record, class Member, Nesting kNesting = Nesting::kOwnTable>
struct Field {
  static constexpr Nesting nesting = kNesting;

  const char* key;
  Member Record::* member;
  Presence presence = Presence::kOptional;
  NumberRange range = NumberRange::kFinite;
  const char* example = "\"…\"";             ///< of a required value, for the hint where it is missing
  bool (*applies)(const Record&) = nullptr;  ///< in records to which it does not apply the key is unknown

  constexpr Field always() const {
    Field out = *this;
    out.presence = Presence::kAlways;
    return out;
  }
  constexpr Field required(const char* text = "\"…\"") const {
    Field out = *this;
    out.presence = Presence::kRequired, out.example = text;
    return out;
  }
  constexpr Field in(NumberRange which) const {
    Field out = *this;
    out.range = which;
    return out;
  }
  constexpr Field when(bool (*condition)(const Record&)) const {
    Field out = *this;
    out.applies = condition;
    return out;
  }
  constexpr Field<Record, Member, Nesting::kSameTable> same_table() const { return {key, member}; }
  constexpr Field<Record, Member, Nesting::kByHand> by_hand() const { return {key, member}; }
};
template <class Record, class Member>
constexpr Field<Record, Member> field(const char* key, Member Record::* member) {
  return {key, member};
}

/// Specialised for every record: `fields`, a tuple of Field in the order in which they are read and written.
template <class Record>
struct RecordSchema;
/// What a specialisation derives from: the record by a short name.
template <class Record>
struct SchemaOf {
  using R = Record;
};

template <class T>
concept HasSchema = requires { RecordSchema<T>::fields; };

/// Calls visit with each field of a record.
template <HasSchema Record, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... fields) { (visit(fields), ...); }, RecordSchema<Record>::fields);
}

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
/// A list of records, in TOML one table each.
template <class T>
inline constexpr bool kIsRecordList = false;
template <HasSchema T>
inline constexpr bool kIsRecordList<std::vector<T>> = true;

}  // namespace kansetsu
