/* FFTW by MPI: a three-dimensional transform and its inverse, round after round for so many seconds,
 * checked against the data of the beginning. Prints, for each round, when it ended and how long it
 * took.
 *
 *   mpicc -O2 examples/testbed/fftw.c -o fftw -lfftw3_mpi -lfftw3 -lm
 *   lightloom testbed run examples/testbed-fftw.toml
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double filling(ptrdiff_t at)
{
	return (double)(at * 37 % 251) / 251;
}

int main(int argc, char **argv)
{
	ptrdiff_t size = argc > 1 ? atoi(argv[1]) : 64;
	double seconds = argc > 2 ? atof(argv[2]) : 5;
	int rank, goes_on = 1;
	ptrdiff_t mine, first;

	MPI_Init(&argc, &argv);
	fftw_mpi_init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ptrdiff_t room = fftw_mpi_local_size_3d(size, size, size, MPI_COMM_WORLD, &mine, &first);
	fftw_complex *data = fftw_alloc_complex(room);
	fftw_plan there = fftw_mpi_plan_dft_3d(size, size, size, data, data, MPI_COMM_WORLD,
					       FFTW_FORWARD, FFTW_ESTIMATE);
	fftw_plan back = fftw_mpi_plan_dft_3d(size, size, size, data, data, MPI_COMM_WORLD,
					      FFTW_BACKWARD, FFTW_ESTIMATE);
	ptrdiff_t count = mine * size * size, offset = first * size * size;
	double scale = 1.0 / ((double)size * size * size);

	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int round = 0; goes_on; round++) {
		for (ptrdiff_t at = 0; at < count; at++) {
			data[at][0] = filling(offset + at + round);
			data[at][1] = 0;
		}
		double since = MPI_Wtime();
		fftw_execute(there);
		fftw_execute(back);
		double until = MPI_Wtime();
		for (ptrdiff_t at = 0; at < count; at++)
			if (fabs(data[at][0] * scale - filling(offset + at + round)) > 1e-9)
				MPI_Abort(MPI_COMM_WORLD, 3);
		if (rank == 0)
			printf("%.3f s: round %d: %.1f ms\n", until - begin, round,
			       (until - since) * 1e3);
		goes_on = until - begin < seconds;
		/* All ranks do as many rounds as the first does. */
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
