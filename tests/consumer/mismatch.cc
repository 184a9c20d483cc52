// Sees our vectors of Eigen, but is compiled for another alignment than the library: must not link.
#include <kansetsu/model/model.h>

int main() { return kansetsu::State().q.size() == 0 ? 0 : 1; }
