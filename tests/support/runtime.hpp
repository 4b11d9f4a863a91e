#pragma once

namespace selvage::test {

/// What runs beside MPI for as long as the tests do.
class Runtime {
 public:
  Runtime(int& argc, char** argv);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();
};

}  // namespace selvage::test
