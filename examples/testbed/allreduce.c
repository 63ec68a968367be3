/* An all-reduce by MPI, as of gradients: the sum over all ranks of so many numbers, round after
 * round, checked. Prints how long each round took.
 *
 *   mpicc -O2 examples/testbed/allreduce.c -o allreduce
 *   lightloom testbed run examples/testbed-allreduce.toml
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, ranks;
	int bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
	int rounds = argc > 2 ? atoi(argv[2]) : 4;
	int count = bytes / (int)sizeof(float);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	float *own = malloc(sizeof(float) * count), *sum = malloc(sizeof(float) * count);
	for (int round = 0; round < rounds; round++) {
		for (int at = 0; at < count; at++)
			own[at] = (float)((at + round) % 100 + rank);
		MPI_Barrier(MPI_COMM_WORLD);
		double begin = MPI_Wtime();
		MPI_Allreduce(own, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		double took = MPI_Wtime() - begin;
		/* Whole numbers below 2^24 have no rounding error. */
		for (int at = 0; at < count; at++)
			if (sum[at] != (float)((at + round) % 100 * ranks + ranks * (ranks - 1) / 2))
				MPI_Abort(MPI_COMM_WORLD, 3);
		if (rank == 0)
			printf("round %d: %.1f ms\n", round, took * 1e3);
	}
	MPI_Finalize();
	return 0;
}
