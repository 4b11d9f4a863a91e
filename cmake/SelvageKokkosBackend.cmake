# selvage_default_backend(out devices): the backend that a Kokkos of these devices (Kokkos_DEVICES) takes unless told
# otherwise, in small letters. Kokkos' own order: GPUs before threads, threads before Serial.
function(selvage_default_backend out devices)
  foreach(backend IN ITEMS CUDA HIP SYCL OPENMPTARGET OPENACC OPENMP THREADS HPX SERIAL)
    if(backend IN_LIST devices)
      string(TOLOWER "${backend}" backend)
      set(${out} "${backend}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()
