"""Runner, store, cluster and worker processes of studies."""
