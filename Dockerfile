# The page and POST /annotate, with the package's weights, on the CPU.
# Not built where this package is developed: no container engine runs there.
#
#     docker build -t refreader .
#     docker run --rm -p 127.0.0.1:8000:8000 refreader
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-deps --wheel-dir /wheels /source

FROM python:3.12-slim
COPY --from=build /wheels /wheels
# Without the CPU index, pip takes torch for CUDA, of several gigabytes
RUN pip install --no-cache-dir torch --index-url https://download.pytorch.org/whl/cpu \
    && pip install --no-cache-dir "$(ls /wheels/*.whl)[page]" \
    && useradd --create-home reader
USER reader
ENV OMP_NUM_THREADS=1
EXPOSE 8000
CMD ["refreader", "serve", "--host", "0.0.0.0", "--port", "8000"]
