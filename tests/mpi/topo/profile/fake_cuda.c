// Stands in for CUDA's driver: one range of the process's memory is the device's.
#include <stddef.h>
#include <stdint.h>

static uintptr_t begin, end;

void fake_cuda_set_device_range(const void* buffer, size_t bytes) {
  begin = (uintptr_t)buffer;
  end = begin + bytes;
}

int cuPointerGetAttribute(void* value, int attribute, unsigned long long pointer) {
  const int invalid_value = 1, memory_type = 2;
  if (attribute != memory_type || pointer < begin || pointer >= end) return invalid_value;
  *(unsigned*)value = 2;
  return 0;
}
