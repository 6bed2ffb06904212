// Two normals: ordered means keep the labels apart.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  simplex[2] share;
  ordered[2] mu;
  vector<lower=0>[2] sigma;
}
model {
  mu ~ normal(0, 4);
  sigma ~ lognormal(0, 1);
  share ~ dirichlet(rep_vector(2, 2));
  for (n in 1 : N)
    target += log_mix(share[1], normal_lpdf(y[n] | mu[1], sigma[1]),
                      normal_lpdf(y[n] | mu[2], sigma[2]));
}
