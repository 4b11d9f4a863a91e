# A rank that dies takes the job with it, and nobody hangs.
add_executable(test_comm_endless_exchange endless_exchange.cpp)
selvage_target_defaults(test_comm_endless_exchange)
target_link_libraries(test_comm_endless_exchange PRIVATE Selvage::comm)
if(SELVAGE_MPI_IS_OPEN_MPI)
  # Which code mpirun ends with for whom is its own affair; these are Open MPI's.
  selvage_add_mpi_test(
    NAME comm.halo.dead_rank.killed
    TARGET test_comm_endless_exchange
    RANKS 2 4
    ARGS killed
    EXIT_CODE 137)
  selvage_add_mpi_test(
    NAME comm.halo.dead_rank.exits
    TARGET test_comm_endless_exchange
    RANKS 2 4
    ARGS exits
    EXIT_CODE 3)
  # Where mpirun lets the others live, they find out by themselves who is gone. In a ring of three both wait for that one; in a
  # larger one, ranks that wait for these may be the first to run out of time.
  set(limit_ms 300)
  if(SELVAGE_SANITIZE)
    set(limit_ms 1500)
  endif()
  set(regex_peer "waited ${limit_ms} ms for rank 2 \\(peer transport, (credit|arrival) epoch 51 wanted, 50 seen")
  set(regex_mpi_staged "waited ${limit_ms} ms for rank 2 \\(MPI, message of epoch 51 wanted, 50 seen")
  if(Kokkos_ENABLE_CUDA)
    # The rank dies with exchanges still in its instance's queue: which one it was in can't be known.
    set(regex_peer "waited ${limit_ms} ms for rank 2 \\(peer transport, (credit|arrival) epoch [0-9]+ wanted, [0-9]+ seen")
  endif()
  foreach(transport IN ITEMS peer mpi_staged)
    selvage_add_mpi_test(
      NAME comm.halo.dead_rank.${transport}
      TARGET test_comm_endless_exchange
      RANKS 3
      ARGS exits
      EXIT_CODE 1
      OUTPUT_REGEX "${regex_${transport}}"
      ENVIRONMENT SELVAGE_TIMEOUT_MS=${limit_ms} SELVAGE_TRANSPORT=${transport} OMPI_MCA_orte_abort_on_non_zero_status=0)
    selvage_add_mpi_test(
      NAME comm.list_halo.dead_rank.${transport}
      TARGET test_comm_endless_exchange
      RANKS 4
      ARGS exits list
      EXIT_CODE 1
      OUTPUT_REGEX "a list's gather waited ${limit_ms} ms for rank 3 \\("
      ENVIRONMENT SELVAGE_TIMEOUT_MS=${limit_ms} SELVAGE_TRANSPORT=${transport} OMPI_MCA_orte_abort_on_non_zero_status=0)
    selvage_add_mpi_test(
      NAME comm.halo.dead_rank.port_${transport}
      TARGET test_comm_endless_exchange
      RANKS 3
      ARGS exits port
      EXIT_CODE 1
      OUTPUT_REGEX "a kernel waited ${limit_ms} ms for rank 2 \\(HaloPort, (credit|arrival) epoch [0-9]+ wanted, [0-9]+ seen"
      ENVIRONMENT SELVAGE_TIMEOUT_MS=${limit_ms} SELVAGE_TRANSPORT=${transport} OMPI_MCA_orte_abort_on_non_zero_status=0)
  endforeach()
  selvage_add_mpi_test(
    NAME comm.list_halo.dead_rank.queue
    TARGET test_comm_endless_exchange
    RANKS 4
    ARGS exits list
    EXIT_CODE 1
    OUTPUT_REGEX "a list's gather waited ${limit_ms} ms for rank 3 \\(MPI by proxy, (message|acceptance) of epoch [0-9]+ wanted, [0-9]+ seen"
    ENVIRONMENT SELVAGE_TIMEOUT_MS=${limit_ms} SELVAGE_INITIATION=queue OMPI_MCA_orte_abort_on_non_zero_status=0)
  selvage_add_mpi_test(
    NAME comm.list_halo.dead_rank.kernel
    TARGET test_comm_endless_exchange
    RANKS 4
    ARGS exits list
    EXIT_CODE 1
    OUTPUT_REGEX "a list's gather waited ${limit_ms} ms for rank 3 \\(peer, arrival epoch [0-9]+ wanted, [0-9]+ seen"
    ENVIRONMENT SELVAGE_TIMEOUT_MS=${limit_ms} SELVAGE_INITIATION=kernel OMPI_MCA_orte_abort_on_non_zero_status=0)
  # Where not all wait for the dead rank, whoever aborts first may be one that waits for those that do, or for them too.
  set(regex_all "waited ${limit_ms} ms for (rank [0-2] \\([^)]*\\), )*rank 3 \\(")
  set(regex_some "waited ${limit_ms} ms for rank [0-3] \\(")
  if(Kokkos_ENABLE_CUDA)
    set(on_some one_shot_ll128:all two_shot_ll128:all two_shot_push:all two_shot_copy_engine:all copy_engine:all multi_ring:some
        recursive_doubling_ll:some)
  else()
    set(on_some shared_buffer_tree:some binomial_tree:some recursive_doubling:some ring:some)
  endif()
  foreach(algorithm_by_waits IN ITEMS one_shot:all two_shot:all mpi:all ${on_some})
    string(REPLACE ":" ";" algorithm_and_waits ${algorithm_by_waits})
    list(GET algorithm_and_waits 0 algorithm)
    list(GET algorithm_and_waits 1 waits)
    selvage_add_mpi_test(
      NAME comm.allreduce.dead_rank.${algorithm}
      TARGET test_comm_endless_exchange
      RANKS 4
      ARGS exits allreduce
      EXIT_CODE 1
      OUTPUT_REGEX "${regex_${waits}}"
      ENVIRONMENT SELVAGE_TIMEOUT_MS=${limit_ms} SELVAGE_ALLREDUCE=${algorithm} SELVAGE_ALLREDUCE_REORDERING=yes OMPI_MCA_orte_abort_on_non_zero_status=0)
  endforeach()
endif()
