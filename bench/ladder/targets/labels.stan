/* A mixture of three normals whose labels are free: six modes in eight dimensions. 80 data in labels.json. */
data { int<lower=1> N; vector[N] y; }
parameters { simplex[3] w; vector[3] mu; vector<lower=0>[3] sigma; }
model {
  mu ~ normal(0, 5); sigma ~ lognormal(0, 1); w ~ dirichlet(rep_vector(2, 3));
  for (n in 1:N) {
    vector[3] t;
    for (k in 1:3) t[k] = log(w[k]) + normal_lpdf(y[n] | mu[k], sigma[k]);
    target += log_sum_exp(t);
  }
}
