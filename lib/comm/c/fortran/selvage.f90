! The C interface of Selvage, selvage/selvage.h, for Fortran: see there what each function does, and what is collective.
!
! Compile this file with your compiler and link Selvage::c. Handles are type(c_ptr). Every function that makes or does something
! returns a status; selvage_message_text() says why it isn't selvage_success.
!
! Arrays are given by c_loc(). They are contiguous and have the attributes target and asynchronous: without the second, a compiler
! may keep what it read before an exchange, since nothing in the call says that the array changes. (Pointers to what
! selvage_allocate() gave need neither.) Axis 0 of the C interface is the first index, and components come last. Ranks, numbers of
! fields, ids in lists and cells count from 0, and the end of a box is not part of it.
module selvage
  use, intrinsic :: iso_c_binding
  implicit none
  public

  enum, bind(c)
    enumerator :: selvage_success = 0, selvage_usage, selvage_input, selvage_unsupported, selvage_mpi, selvage_cuda, selvage_io, &
      selvage_timeout, selvage_other
  end enum
  enum, bind(c)
    enumerator :: selvage_host = 0, selvage_device
  end enum
  enum, bind(c)
    enumerator :: selvage_float = 0, selvage_double, selvage_int32, selvage_int64, selvage_int8, selvage_int16, selvage_uint8, &
      selvage_uint16, selvage_uint32, selvage_uint64, selvage_half, selvage_bfloat16, selvage_complex_float, &
      selvage_complex_double
  end enum
  enum, bind(c)
    enumerator :: selvage_sum = 0, selvage_product, selvage_min, selvage_max, selvage_average
  end enum

  type, bind(c) :: selvage_grid_options
    integer(c_int) :: axes = 0
    integer(c_int64_t) :: cells(3) = 0
    integer(c_int) :: periodic(3) = 0
    integer(c_int) :: ranks(3) = 0
    integer(c_int) :: keep_order = 0
  end type

  type, bind(c) :: selvage_field
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: element_bytes = 0
    integer(c_int) :: axes = 0
    integer(c_int64_t) :: extents(4) = 0
    integer(c_int64_t) :: strides(4) = 0
  end type

  type, bind(c) :: selvage_halo_options
    integer(c_int) :: width(2, 3) = 0  ! below and above, of each axis
    integer(c_int) :: corners = 0
    integer(c_int) :: alternating = 0
    type(c_ptr) :: transport = c_null_ptr   ! c_loc of a text that ends with c_null_char
    type(c_ptr) :: initiation = c_null_ptr
  end type

  type, bind(c) :: selvage_list_options
    integer(c_int) :: neighbour_count = -1
    type(c_ptr) :: neighbours = c_null_ptr
    type(c_ptr) :: transport = c_null_ptr
    type(c_ptr) :: initiation = c_null_ptr
  end type

  type, bind(c) :: selvage_particles
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: particles = 0
    integer(c_int) :: components = 1
    integer(c_int64_t) :: particle_stride = 1
    integer(c_int64_t) :: component_stride = 1
  end type

  type, bind(c) :: selvage_allreduce_options
    type(c_ptr) :: algorithm = c_null_ptr
    integer(c_int) :: allow_reordering = 0
    integer(c_int) :: max_blocks = 0
  end type

  interface
    function selvage_message() bind(c) result(text)
      import
      type(c_ptr) :: text
    end function
    integer(c_int) function selvage_initialize() bind(c)
      import
    end function
    integer(c_int) function selvage_finalize() bind(c)
      import
    end function

    ! comm: as mpi and mpif.h number communicators; of mpi_f08, comm%mpi_val
    integer(c_int) function selvage_context_create(comm, memory, stream, context) bind(c, name="selvage_context_create_f")
      import
      integer(c_int), value :: comm
      integer(c_int), value :: memory
      type(c_ptr), value :: stream
      type(c_ptr) :: context
    end function
    subroutine selvage_context_destroy(context) bind(c)
      import
      type(c_ptr), value :: context
    end subroutine
    integer(c_int) function selvage_allocate(context, bytes, memory) bind(c)
      import
      type(c_ptr), value :: context
      integer(c_size_t), value :: bytes
      type(c_ptr) :: memory
    end function
    integer(c_int) function selvage_deallocate(context, memory) bind(c)
      import
      type(c_ptr), value :: context, memory
    end function

    integer(c_int) function selvage_grid_create(context, options, grid) bind(c)
      import
      type(c_ptr), value :: context
      type(selvage_grid_options) :: options
      type(c_ptr) :: grid
    end function
    integer(c_int) function selvage_grid_create_of_boxes(context, options, begin, end, grid) bind(c)
      import
      type(c_ptr), value :: context
      type(selvage_grid_options) :: options
      integer(c_int64_t) :: begin(*), end(*)
      type(c_ptr) :: grid
    end function
    subroutine selvage_grid_destroy(grid) bind(c)
      import
      type(c_ptr), value :: grid
    end subroutine
    integer(c_int) function selvage_grid_box(grid, rank, begin, end) bind(c)
      import
      type(c_ptr), value :: grid
      integer(c_int), value :: rank
      integer(c_int64_t) :: begin(*), end(*)
    end function
    integer(c_int) function selvage_grid_neighbour(grid, direction, rank) bind(c)
      import
      type(c_ptr), value :: grid
      integer(c_int) :: direction(*), rank
    end function

    integer(c_int) function selvage_halo_create(grid, options, count, fields, halo) bind(c)
      import
      type(c_ptr), value :: grid
      type(selvage_halo_options) :: options
      integer(c_int), value :: count
      type(selvage_field) :: fields(*)
      type(c_ptr) :: halo
    end function
    subroutine selvage_halo_destroy(halo) bind(c)
      import
      type(c_ptr), value :: halo
    end subroutine
    integer(c_int) function selvage_halo_rebind(halo, count, fields) bind(c)
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: count
      type(selvage_field) :: fields(*)
    end function
    integer(c_int) function selvage_halo_exchange(halo, count, fields) bind(c)
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: count
      integer(c_int) :: fields(*)
    end function
    integer(c_int) function selvage_halo_start(halo, count, fields) bind(c)
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: count
      integer(c_int) :: fields(*)
    end function
    integer(c_int) function selvage_halo_finish(halo) bind(c)
      import
      type(c_ptr), value :: halo
    end function
    integer(c_int) function selvage_halo_reduce(halo, field, type, operation) bind(c)
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: field, type, operation
    end function
    integer(c_int) function selvage_halo_check(halo) bind(c)
      import
      type(c_ptr), value :: halo
    end function
    function selvage_halo_explain(halo) bind(c) result(text)
      import
      type(c_ptr), value :: halo
      type(c_ptr) :: text
    end function

    integer(c_int) function selvage_list_create(context, owned, entries, ids, ranks, options, list) bind(c)
      import
      type(c_ptr), value :: context
      integer(c_int64_t), value :: owned, entries
      integer(c_int64_t) :: ids(*)
      integer(c_int) :: ranks(*)
      type(selvage_list_options) :: options
      type(c_ptr) :: list
    end function
    subroutine selvage_list_destroy(list) bind(c)
      import
      type(c_ptr), value :: list
    end subroutine
    integer(c_int) function selvage_list_rebuild(list, owned, entries, ids, ranks) bind(c)
      import
      type(c_ptr), value :: list
      integer(c_int64_t), value :: owned, entries
      integer(c_int64_t) :: ids(*)
      integer(c_int) :: ranks(*)
    end function
    integer(c_int64_t) function selvage_list_ghosts(list) bind(c)
      import
      type(c_ptr), value :: list
    end function
    integer(c_int) function selvage_list_gather(list, particles, element_bytes) bind(c)
      import
      type(c_ptr), value :: list
      type(selvage_particles) :: particles
      integer(c_size_t), value :: element_bytes
    end function
    integer(c_int) function selvage_list_scatter_add(list, particles, type) bind(c)
      import
      type(c_ptr), value :: list
      type(selvage_particles) :: particles
      integer(c_int), value :: type
    end function
    integer(c_int) function selvage_list_start_gather(list, particles, element_bytes) bind(c)
      import
      type(c_ptr), value :: list
      type(selvage_particles) :: particles
      integer(c_size_t), value :: element_bytes
    end function
    integer(c_int) function selvage_list_start_scatter_add(list, particles, type) bind(c)
      import
      type(c_ptr), value :: list
      type(selvage_particles) :: particles
      integer(c_int), value :: type
    end function
    integer(c_int) function selvage_list_finish(list) bind(c)
      import
      type(c_ptr), value :: list
    end function

    integer(c_int) function selvage_allreduce_create(context, data, count, type, operation, options, allreduce) bind(c)
      import
      type(c_ptr), value :: context, data
      integer(c_int64_t), value :: count
      integer(c_int), value :: type, operation
      type(selvage_allreduce_options) :: options
      type(c_ptr) :: allreduce
    end function
    subroutine selvage_allreduce_destroy(allreduce) bind(c)
      import
      type(c_ptr), value :: allreduce
    end subroutine
    integer(c_int) function selvage_allreduce_run(allreduce) bind(c)
      import
      type(c_ptr), value :: allreduce
    end function
    integer(c_int) function selvage_allreduce_start(allreduce) bind(c)
      import
      type(c_ptr), value :: allreduce
    end function
    integer(c_int) function selvage_allreduce_finish(allreduce) bind(c)
      import
      type(c_ptr), value :: allreduce
    end function
    integer(c_int) function selvage_allreduce_check(allreduce) bind(c)
      import
      type(c_ptr), value :: allreduce
    end function
    function selvage_allreduce_explain(allreduce) bind(c) result(text)
      import
      type(c_ptr), value :: allreduce
      type(c_ptr) :: text
    end function
  end interface

contains

  ! What a function that returns a text of C has returned.
  function selvage_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: copy
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i
    call c_f_pointer(text, characters, [1000000])
    length = 0
    do while (characters(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate(character(len=length) :: copy)
    do i = 1, length
      copy(i:i) = characters(i)
    end do
  end function

  ! Why this thread's last call failed.
  function selvage_message_text() result(message)
    character(len=:), allocatable :: message
    message = selvage_text(selvage_message())
  end function

end module selvage
