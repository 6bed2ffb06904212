// Ordered cut points and a simplex: grades of five levels, whose probabilities are known beforehand but for their order.
data {
  int<lower=0> N;
  array[N] int<lower=1, upper=5> grade;
  vector[N] x;
}
parameters {
  real slope;
  ordered[4] cut;
  simplex[3] weight;
}
model {
  slope ~ normal(0, 2);
  cut ~ normal(0, 3);
  weight ~ dirichlet([2, 3, 5]');
  grade ~ ordered_logistic(slope * x, cut);
}
generated quantities {
  simplex[3] other = dirichlet_rng([2, 3, 5]');
  array[2, 3] int table;
  for (i in 1 : 2) for (j in 1 : 3) table[i, j] = 10 * i + j;
}
