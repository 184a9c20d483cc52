#pragma once

#include "io/scene/scene_reader.h"
#include "scene/scene_schema.h"

/// Reads records from TOML tables by their schema (base/schema.h).
namespace kansetsu::io::scene {

template <class Record>
void read_fields(TomlTable& table, Record& out);

/// The table name for items of a list.
inline std::string singular(std::string_view key) { return std::string(key.substr(0, key.size() - 1)); }

/// Reads the value of a key; `out` is unchanged if it is absent.
template <class T>
void read_value(TomlTable& table, const char* key, T& out) {
  if constexpr (HasWords<T>) {
    if (const auto word = table.keyword(key, kWords<T>)) out = T(*word);
  } else if constexpr (kIsOptional<T>) {
    if (!table.has(key)) return table.allow(key);
    if (!out) out.emplace();
    read_value(table, key, *out);
  } else if constexpr (kIsRecordList<T>) {
    for (TomlTable& inner : table.tables(singular(key).c_str())) {
      read_fields(inner, out.emplace_back());
      inner.finish();
    }
  } else if constexpr (HasSchema<T>) {
    if (auto inner = table.table(key)) {
      read_fields(*inner, out);
      inner->finish();
    }
  } else {
    table.read(key, out);
  }
}

/// Reads the fields of a record from a table, which may have further keys.
template <class Record>
void read_fields(TomlTable& table, Record& out) {
  if constexpr (requires { out.line; }) out.line = table.line();
  for_each_field<Record>([&](const auto& field) {
    constexpr Nesting kNesting = std::remove_cvref_t<decltype(field)>::nesting;
    if constexpr (kNesting == Nesting::kByHand) {
      return;
    } else if (field.applies && !field.applies(out)) {
      return;
    } else if constexpr (kNesting == Nesting::kSameTable) {
      read_fields(table, out.*field.member);
    } else if (field.presence == Presence::kRequired && !table.has(field.key)) {
      table.missing(field.key, field.example);
    } else {
      read_value(table, field.key, out.*field.member);
    }
  });
  complete(table, out);
}

/// Reads a record from a table of its own.
template <class Record>
Record read_record(TomlTable& table) {
  Record out;
  read_fields(table, out);
  table.finish();
  return out;
}

}  // namespace kansetsu::io::scene
