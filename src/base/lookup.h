#pragma once

#include <algorithm>
#include <string_view>

/// What is found by a key or a name: a pointer, null where there is no such thing.
namespace kansetsu {

template <class Map, class Key = typename Map::key_type>
auto* find_in(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// The first of a list.
template <class List>
auto* find_named(List& list, std::string_view name) {
  const auto found = std::ranges::find_if(list, [&](const auto& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

template <class List, class Item>
bool contains(const List& list, const Item& item) {
  return std::ranges::find(list, item) != list.end();
}

}  // namespace kansetsu
