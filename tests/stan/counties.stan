// A hierarchical regression: an intercept and a slope of each county, correlated; 53 parameters.
data {
  int<lower=0> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> county;
  vector[N] x;
  vector[N] y;
}
parameters {
  vector[2] centre;
  vector<lower=0>[2] scale;
  cholesky_factor_corr[2] L;
  matrix[2, J] z;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[2, J] effect = rep_matrix(centre, J) + diag_pre_multiply(scale, L) * z;
}
model {
  centre ~ normal(0, 2);
  scale ~ normal(0, 1);
  L ~ lkj_corr_cholesky(2);
  to_vector(z) ~ std_normal();
  sigma ~ normal(0, 1);
  for (n in 1 : N) y[n] ~ normal(effect[1, county[n]] + effect[2, county[n]] * x[n], sigma);
}
generated quantities {
  real correlation = multiply_lower_tri_self_transpose(L)[1, 2];
}
