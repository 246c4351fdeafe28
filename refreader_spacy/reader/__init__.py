"""The default reader: encoders, packaged weights; `kernels` has its compiled step."""
