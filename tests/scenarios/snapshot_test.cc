#include <doctest/doctest.h>

#include "crowd.h"
#include "kansetsu/base/error.h"
#include "kansetsu/sim/world.h"

using namespace kansetsu;

TEST_CASE("a snapshot that went through bytes gives the same bits in another world of the same kind") {
  World world = test::crowd(3, 1);
  world.grab(kWorldBody, {FigureId(0), LinkId(0)});
  world.advance(0.1);
  const std::string bytes = world.save().to_bytes();
  world.advance(0.1);

  World other = test::crowd(3, 1);
  const Snapshot read = Snapshot::from_bytes(bytes);
  CHECK(read.to_bytes() == bytes);
  other.restore(read);
  CHECK(other.time() == read.time());
  other.advance(0.1);
  CHECK(other.hash() == world.hash());
  CHECK(other.report().connections.size() == world.report().connections.size());
}

TEST_CASE("bytes that are no snapshot are refused") {
  const std::string bytes = test::crowd(1, 1).save().to_bytes();
  CHECK_THROWS_AS((void)Snapshot::from_bytes(""), Error);
  CHECK_THROWS_AS((void)Snapshot::from_bytes("something else altogether, and long enough"), Error);
  for (size_t cut = 1; cut < bytes.size(); cut += bytes.size() / 50) {
    CHECK_THROWS_AS((void)Snapshot::from_bytes(bytes.substr(0, cut)), Error);
    std::string damaged = bytes;
    damaged[cut] = char(damaged[cut] ^ 0x40);
    CHECK_THROWS_AS((void)Snapshot::from_bytes(damaged), Error);
  }
  CHECK_THROWS_AS((void)Snapshot().to_bytes(), Error);
}
