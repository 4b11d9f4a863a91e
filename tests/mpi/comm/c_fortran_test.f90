! Every function of the module that examples/diffuse_in_fortran.f90 doesn't call, with what the C interface promises of it.
module expectations
  use selvage
  use mpi
  implicit none
  integer :: rank, ranks, failures = 0

contains

  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (is_right) return
    failures = failures + 1
    write (*, "(a,i0,a)") "rank ", rank, ": wrong: "//what
  end subroutine

  subroutine succeed(status, what)
    integer(c_int), intent(in) :: status
    character(len=*), intent(in) :: what
    integer :: ierror
    if (status == selvage_success) return
    write (*, "(a,i0,a)") "rank ", rank, ": "//what//": "//selvage_message_text()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  integer function neighbour(step)
    integer, intent(in) :: step
    neighbour = modulo(rank + step, ranks)
  end function

  ! Each rank owns the cells of one layer; a field has two components, of which C's last axis is Fortran's last index.
  subroutine boxes(context)
    type(c_ptr), intent(in) :: context
    type(selvage_grid_options) :: cells
    type(selvage_halo_options) :: options
    type(selvage_field) :: field
    type(c_ptr) :: grid, halo
    character(len=*, kind=c_char), parameter :: forced = "mpi_staged"//c_null_char
    character(len=len(forced), kind=c_char), target :: transport
    real(c_double), target, asynchronous :: u(5, 3, 2)
    integer(c_int64_t) :: begin(2), end(2)
    integer(c_int) :: next
    integer :: component
    cells%axes = 2
    cells%cells(1:2) = [5, ranks]
    cells%periodic(1:2) = [0, 1]
    call succeed(selvage_grid_create_of_boxes(context, cells, [0_c_int64_t, int(rank, c_int64_t)], &
                                              [5_c_int64_t, int(rank + 1, c_int64_t)], grid), "a grid of boxes")
    call succeed(selvage_grid_box(grid, neighbour(1), begin, end), "the box of the next rank")
    call expect(all(begin == [0, neighbour(1)]) .and. all(end == [5, neighbour(1) + 1]), "the box of the next rank")
    next = 17
    call expect(selvage_grid_neighbour(grid, [0, 1], next) /= selvage_success .and. next == 17, &
                "a grid of boxes has no neighbours by direction")
    call expect(index(selvage_message_text(), "no neighbour") > 0, "why: "//selvage_message_text())

    options%width(:, 2) = 1
    options%corners = 1
    transport = forced
    options%transport = c_loc(transport)
    field%data = c_loc(u)
    field%element_bytes = 8
    field%axes = 3
    field%extents(1:3) = shape(u)
    field%strides(1:3) = [1, 5, 15]
    call succeed(selvage_halo_create(grid, options, 1, [field], halo), "a halo")
    u = -1
    u(:, 2, 1) = rank
    u(:, 2, 2) = 100 + rank
    call succeed(selvage_halo_exchange(halo, 0, [0]), "an exchange")
    do component = 1, 2
      call expect(all(u(:, 1, component) == 100*(component - 1) + neighbour(-1)), "ghosts below")
      call expect(all(u(:, 3, component) == 100*(component - 1) + neighbour(1)), "ghosts above")
    end do
    u = 1
    call succeed(selvage_halo_reduce(halo, 0, selvage_double, selvage_sum), "a reduction")
    call expect(all(u(:, 2, :) == 3), "cells and both their ghosts")
    u = rank
    call succeed(selvage_halo_rebind(halo, 1, [field]), "arrays anew")
    call succeed(selvage_halo_exchange(halo, 0, [0]), "an exchange of these")
    call expect(all(u(:, 1, :) == neighbour(-1)), "ghosts of these")
    call succeed(selvage_halo_check(halo), "a check")
    call selvage_halo_destroy(halo)
    call selvage_grid_destroy(grid)
  end subroutine

  ! Neighbours in a process grid, and what a wrong argument leaves unchanged.
  subroutine process_grid(context)
    type(c_ptr), intent(in) :: context
    type(selvage_grid_options) :: cells
    type(c_ptr) :: grid
    integer(c_int) :: next
    cells%axes = 1
    cells%cells(1) = 4*ranks
    cells%periodic(1) = 1
    cells%ranks(1) = ranks
    cells%keep_order = 1
    call succeed(selvage_grid_create(context, cells, grid), "a grid")
    call succeed(selvage_grid_neighbour(grid, [-1], next), "the rank before")
    call expect(next == neighbour(-1), "the rank before")
    call selvage_grid_destroy(grid)
    grid = c_null_ptr
    cells%axes = 4
    call expect(selvage_grid_create(context, cells, grid) == selvage_usage, "four axes")
    call expect(.not. c_associated(grid), "there is no grid of four axes")
    call expect(index(selvage_message_text(), "4") > 0, "why: "//selvage_message_text())
  end subroutine

  ! Four particles of each rank, with three values each; the next rank gets two of them, then three.
  subroutine lists(context)
    type(c_ptr), intent(in) :: context
    type(selvage_list_options) :: options
    type(selvage_particles) :: particles
    type(c_ptr) :: list
    integer, parameter :: owned = 4
    real(c_double), target, asynchronous :: x(3, owned + 3)
    integer(c_int), target :: neighbours(2)
    integer(c_int) :: to_next(3)
    neighbours = [neighbour(1), neighbour(-1)]
    options%neighbour_count = merge(2, 1, ranks > 2)
    if (ranks == 1) options%neighbour_count = 1
    options%neighbours = c_loc(neighbours)
    to_next = neighbour(1)
    call succeed(selvage_list_create(context, int(owned, c_int64_t), 2_c_int64_t, [3_c_int64_t, 0_c_int64_t], &
                                     to_next, options, list), "a list")
    call expect(selvage_list_ghosts(list) == 2, "two ghosts")
    particles%data = c_loc(x)
    particles%particles = owned + 3
    particles%components = 3
    particles%particle_stride = 3
    particles%component_stride = 1
    call fill()
    call succeed(selvage_list_gather(list, particles, 8_c_size_t), "gather")
    call expect(all(x(:, 5) == values(neighbour(-1), 4)) .and. all(x(:, 6) == values(neighbour(-1), 1)), "both ghosts")

    call succeed(selvage_list_rebuild(list, int(owned, c_int64_t), 3_c_int64_t, &
                                      [1_c_int64_t, 2_c_int64_t, 3_c_int64_t], to_next), "a rebuild")
    call expect(selvage_list_ghosts(list) == 3, "three ghosts")
    call fill()
    call succeed(selvage_list_start_gather(list, particles, 8_c_size_t), "the start of a gather")
    call succeed(selvage_list_finish(list), "its end")
    call expect(all(x(:, 5) == values(neighbour(-1), 2)) .and. all(x(:, 6) == values(neighbour(-1), 3)) &
                .and. all(x(:, 7) == values(neighbour(-1), 4)), "three ghosts")
    x(:, :owned) = 1
    x(:, owned + 1:) = 10
    call succeed(selvage_list_scatter_add(list, particles, selvage_double), "scatter_add")
    call expect(all(x(:, 1) == 1) .and. all(x(:, 2:4) == 11), "what ghosts add")
    call succeed(selvage_list_start_scatter_add(list, particles, selvage_double), "the start of a scatter_add")
    call succeed(selvage_list_finish(list), "its end")
    call expect(all(x(:, 1) == 1) .and. all(x(:, 2:4) == 21), "what ghosts add once more")
    call selvage_list_destroy(list)

  contains

    function values(of_rank, particle) result(three)
      integer, intent(in) :: of_rank, particle
      real(c_double) :: three(3)
      three = [1, 2, 3] + 10*particle + 100*of_rank
    end function
    subroutine fill()
      integer :: particle
      x = -1
      do particle = 1, owned
        x(:, particle) = values(rank, particle)
      end do
    end subroutine
  end subroutine

  subroutine sums(context)
    type(c_ptr), intent(in) :: context
    type(selvage_allreduce_options) :: options
    type(c_ptr) :: allreduce
    character(len=4, kind=c_char), target :: algorithm
    integer(c_int64_t), target, asynchronous :: counts(1000)
    complex(c_double_complex), target, asynchronous :: waves(7)
    algorithm = "mpi"//c_null_char
    options%algorithm = c_loc(algorithm)
    call succeed(selvage_allreduce_create(context, c_loc(counts), size(counts, kind=c_int64_t), selvage_int64, &
                                          selvage_sum, options, allreduce), "an allreduce")
    call expect(index(selvage_text(selvage_allreduce_explain(allreduce)), "mpi") > 0, "the algorithm that was asked for")
    counts = rank + 1
    call succeed(selvage_allreduce_start(allreduce), "its start")
    call succeed(selvage_allreduce_finish(allreduce), "its end")
    call expect(all(counts == ranks*(ranks + 1)/2), "the sum")
    call succeed(selvage_allreduce_check(allreduce), "a check")
    call selvage_allreduce_destroy(allreduce)
    call succeed(selvage_allreduce_create(context, c_loc(waves), size(waves, kind=c_int64_t), selvage_complex_double, &
                                          selvage_sum, options, allreduce), "an allreduce of complex numbers")
    waves = cmplx(rank + 1, -2, c_double_complex)
    call succeed(selvage_allreduce_run(allreduce), "its run")
    call expect(all(waves == cmplx(ranks*(ranks + 1)/2, -2*ranks, c_double_complex)), "the complex sum")
    call selvage_allreduce_destroy(allreduce)
  end subroutine

end module expectations

program fortran_test
  use expectations
  implicit none
  type(c_ptr) :: context
  integer :: ierror, all_failures
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call succeed(selvage_initialize(), "the start")
  call succeed(selvage_context_create(MPI_COMM_WORLD, selvage_host, c_null_ptr, context), "a context")
  call boxes(context)
  call process_grid(context)
  call lists(context)
  call sums(context)
  call selvage_context_destroy(context)
  call succeed(selvage_finalize(), "the end")
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (all_failures > 0) error stop "something is wrong"
end program fortran_test
