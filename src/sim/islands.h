#pragma once

#include <deque>
#include <vector>

#include "sim/connections.h"
#include "sim/contacts.h"
#include "sim/island_work.h"

namespace kansetsu {

/// Figures coupled by contacts or connections are solved together: they are an island. Sleeping figures are in none.
class Islands {
 public:
  explicit Islands(const ContactOptions& options) : options_(options) {}

  /// @param contacts  as they have been found
  void find(const Figures& figures, const std::vector<ConnectionData>& connections, const ContactFinder& contacts);
  /// Sets the number of linear systems that the solver of each island may take from now on.
  void limit_systems(int count);

  int count() const { return count_; }
  IslandWork& operator[](int i) { return works_[size_t(i)]; }
  auto begin() { return works_.begin(); }
  auto end() { return works_.begin() + count_; }

 private:
  void begin(int count);
  int root(int figure);

  ContactOptions options_;
  std::deque<IslandWork> works_;  ///< the first count_ are in use
  int count_ = 0;
  std::vector<int> group_;   ///< by figure: one it is coupled with, or itself
  std::vector<int> number_;  ///< by root: its island
};

}  // namespace kansetsu
