/* Points that are worked on together: the chains of a sampler's block, the lanes of a block of a batch, the rows of one
 * task of a pool. Results depend on it where sums are taken block by block. */
#ifndef AIS_BASE_BLOCK_H
#define AIS_BASE_BLOCK_H

enum { AIS_BLOCK = 64 };

#endif
