! The same traffic through each of Fortran's interfaces to MPI; see expected.cpp.

subroutine through_mpif_h()
  implicit none
  include 'mpif.h'
  integer :: request
  double precision :: out(100), in(100)
  integer :: numbers(7), rank, ranks, next, previous, i, error
  out = 0
  in = 0
  numbers = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  do i = 1, 10
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, request, error)
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv_replace(numbers, 7, MPI_INTEGER, previous, 1, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end subroutine

subroutine through_mpi()
  use mpi
  implicit none
  integer :: request
  double precision :: out(100), in(100)
  integer :: numbers(7), rank, ranks, next, previous, i, error
  out = 0
  in = 0
  numbers = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  do i = 1, 10
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, request, error)
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv_replace(numbers, 7, MPI_INTEGER, previous, 1, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end subroutine

subroutine through_mpi_f08()
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
  double precision :: out(100), in(100)
  integer :: numbers(7), rank, ranks, next, previous, i, error
  out = 0
  in = 0
  numbers = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  do i = 1, 10
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, request, error)
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv_replace(numbers, 7, MPI_INTEGER, previous, 1, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end subroutine

program traffic
  implicit none
  character(len=32) :: interface_name
  call get_command_argument(1, interface_name)
  select case (interface_name)
  case ('fortran_mpif_h')
    call through_mpif_h()
  case ('fortran_mpi')
    call through_mpi()
  case ('fortran_mpi_f08')
    call through_mpi_f08()
  case default
    error stop 'no such interface'
  end select
end program
