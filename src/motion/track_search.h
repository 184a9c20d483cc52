#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kansetsu/motion/track.h"

namespace kansetsu {

/// A run that can be repeated from any moment of it, with other corrections, to the bit.
class RepeatableRun {
 public:
  class Moment {
   public:
    virtual ~Moment() = default;
  };
  virtual ~RepeatableRun() = default;

  virtual std::shared_ptr<const Moment> save() const = 0;
  virtual void restore(const Moment& moment) = 0;
  virtual void correct(const std::vector<TrackCorrection>& corrections) = 0;
  virtual bool step() = 0;          ///< @return whether it goes on
  virtual bool fallen() const = 0;  ///< after the last step
  virtual double time() const = 0;
  virtual double strain() const = 0;  ///< how far it is from its reference; 1: about to fall
};

struct TrackSearchOptions {
  int tries = 24;  ///< runs per round of a search; 0: no search
  std::uint64_t seed = 0;
};

/// Corrections with which a run does not fall, or falls as late as was found. After a fall the run is repeated from a moment before
/// it with random corrections; the best of them is kept (the cross-entropy method, [Rubinstein 1999]). docs/theory/walking.md §6.
/// @param progress  called with the time that is reached [s], ends the search by false; may be empty
/// @return  the corrections, which the run has got, too
std::vector<TrackCorrection> find_corrections(RepeatableRun& run, const TrackSearchOptions& options,
                                              const std::function<bool(double)>& progress);

}  // namespace kansetsu
