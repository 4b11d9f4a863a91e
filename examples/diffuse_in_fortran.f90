! Heat in a periodic box, in Fortran: ghosts travel while the cells that need none are computed.
module diffusion
  use selvage
  use mpi
  implicit none
  integer, parameter :: dp = c_double
  integer, parameter :: cells_per_axis = 48, steps = 100
  ! Of the difference to each of six neighbours, per step.
  real(dp), parameter :: rate = 0.1_dp
  real(dp), parameter :: turn = 2*acos(-1.0_dp)/cells_per_axis

  ! An array of this rank's cells, with a ghost on each side of each axis: indices 0 to extent + 1.
  type :: array
    real(dp), pointer, contiguous :: cells(:, :, :) => null()
  end type

contains

  ! Ends all ranks where a call fails; others may wait for this one.
  subroutine check(status)
    integer(c_int), intent(in) :: status
    integer :: ierror
    if (status == selvage_success) return
    write (*, "(a)") "diffuse_in_fortran: "//selvage_message_text()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! In memory that the other ranks of this host reach: nothing is copied on the way.
  function allocate_array(context, extents, memory) result(made)
    type(c_ptr), intent(in) :: context
    integer, intent(in) :: extents(3)
    type(c_ptr), intent(out) :: memory
    type(array) :: made
    real(dp), pointer, contiguous :: all(:, :, :)
    call check(selvage_allocate(context, 8*product(int(extents + 2, c_size_t)), memory))
    call c_f_pointer(memory, all, extents + 2)
    made%cells(0:, 0:, 0:) => all
  end function

  function field_of(data, extents) result(field)
    type(c_ptr), intent(in) :: data
    integer, intent(in) :: extents(3)
    type(selvage_field) :: field
    field%data = data
    field%element_bytes = 8
    field%axes = 3
    field%extents(1:3) = extents + 2
    field%strides(1:3) = [1, extents(1) + 2, (extents(1) + 2)*(extents(2) + 2)]
  end function

  ! Cells first to last of each axis.
  subroutine diffuse(first, last, from, to)
    integer, intent(in) :: first(3), last(3)
    real(dp), intent(in) :: from(0:, 0:, 0:)
    real(dp), intent(inout) :: to(0:, 0:, 0:)
    integer :: i, j, k
    do k = first(3), last(3)
      do j = first(2), last(2)
        do i = first(1), last(1)
          to(i, j, k) = from(i, j, k) + rate*(from(i - 1, j, k) + from(i + 1, j, k) + from(i, j - 1, k) + from(i, j + 1, k) &
                                              + from(i, j, k - 1) + from(i, j, k + 1) - 6*from(i, j, k))
        end do
      end do
    end do
  end subroutine

  ! The cells that read ghosts: two layers of each axis, each cell once.
  subroutine diffuse_edges(n, from, to)
    integer, intent(in) :: n(3)
    real(dp), intent(in) :: from(0:, 0:, 0:)
    real(dp), intent(inout) :: to(0:, 0:, 0:)
    call diffuse([1, 1, 1], [n(1), n(2), 1], from, to)
    if (n(3) > 1) call diffuse([1, 1, n(3)], n, from, to)
    call diffuse([1, 1, 2], [n(1), 1, n(3) - 1], from, to)
    if (n(2) > 1) call diffuse([1, n(2), 2], [n(1), n(2), n(3) - 1], from, to)
    call diffuse([1, 2, 2], [1, n(2) - 1, n(3) - 1], from, to)
    if (n(1) > 1) call diffuse([n(1), 2, 2], [n(1), n(2) - 1, n(3) - 1], from, to)
  end subroutine

  ! Over all ranks: how far the cells are from the wave, which keeps its shape and is lower by a known factor.
  function largest_error(context, first, n, u) result(largest)
    type(c_ptr), intent(in) :: context
    integer(c_int64_t), intent(in) :: first(3)
    integer, intent(in) :: n(3)
    real(dp), intent(in) :: u(0:, 0:, 0:)
    real(dp), target, asynchronous :: largest
    type(c_ptr) :: of_all
    real(dp) :: height
    integer :: i
    height = (1 - 2*rate*(1 - cos(turn)))**steps
    largest = 0
    do i = 1, n(1)
      largest = max(largest, maxval(abs(u(i, 1:n(2), 1:n(3)) - height*sin(turn*(first(1) + i - 1)))))
    end do
    call check(selvage_allreduce_create(context, c_loc(largest), 1_c_int64_t, selvage_double, selvage_max, &
                                        selvage_allreduce_options(), of_all))
    call check(selvage_allreduce_run(of_all))
    call selvage_allreduce_destroy(of_all)
  end function

  function solve(context) result(error)
    type(c_ptr), intent(in) :: context
    real(dp) :: error
    type(selvage_grid_options) :: cells
    type(selvage_halo_options) :: options
    type(selvage_field) :: fields(2)
    type(array) :: u(2)
    type(c_ptr) :: grid, halo, memory(2)
    integer(c_int64_t) :: begin(3), end(3)
    integer :: rank, ierror, n(3), f, step, from, i
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    cells%axes = 3
    cells%cells = cells_per_axis
    cells%periodic = 1
    call check(selvage_grid_create(context, cells, grid))
    call check(selvage_grid_box(grid, rank, begin, end))
    n = int(end - begin)
    do f = 1, 2
      u(f) = allocate_array(context, n, memory(f))
      fields(f) = field_of(memory(f), n)
    end do
    ! --8<-- [start:halo]
    options%width = 1
    options%alternating = 1
    call check(selvage_halo_create(grid, options, 2, fields, halo))
    ! --8<-- [end:halo]
    if (rank == 0) write (*, "(a)", advance="no") selvage_text(selvage_halo_explain(halo))

    do i = 1, n(1)
      u(1)%cells(i, :, :) = sin(turn*(begin(1) + i - 1))
    end do
    ! --8<-- [start:steps]
    do step = 0, steps - 1
      from = 1 + mod(step, 2)
      call check(selvage_halo_start(halo, 1, [from - 1]))
      call diffuse([2, 2, 2], n - 1, u(from)%cells, u(3 - from)%cells)
      call check(selvage_halo_finish(halo))
      call diffuse_edges(n, u(from)%cells, u(3 - from)%cells)
    end do
    ! --8<-- [end:steps]
    error = largest_error(context, begin, n, u(1 + mod(steps, 2))%cells)
    call selvage_halo_destroy(halo)
    do f = 1, 2
      call check(selvage_deallocate(context, memory(f)))
    end do
    call selvage_grid_destroy(grid)
    if (rank == 0) write (*, "(a,i0,a,es7.1)") "after ", steps, " steps the largest error is ", error
  end function

end module diffusion

program diffuse_in_fortran
  use diffusion
  implicit none
  type(c_ptr) :: context
  real(dp) :: error
  integer :: ierror
  call MPI_Init(ierror)
  call check(selvage_initialize())
  call check(selvage_context_create(MPI_COMM_WORLD, selvage_host, c_null_ptr, context))
  error = solve(context)
  call selvage_context_destroy(context)
  call check(selvage_finalize())
  call MPI_Finalize(ierror)
  if (.not. error < 1.0e-12_dp) error stop "the solution is wrong"
end program diffuse_in_fortran
