# One image for every process of Headrace, Spark's master and workers included: driver and
# executors must have the same Python, the same packages and the same code.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 headrace \
    && install -d -o headrace /var/lib/headrace

WORKDIR /opt/headrace
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock

COPY . .
RUN pip install --no-cache-dir --no-deps --editable .

# The jars of pyspark are the whole of Spark: the cluster's master and workers start from there.
ENV HEADRACE_HOME=/var/lib/headrace \
    PYTHONUNBUFFERED=1 \
    SPARK_HOME=/usr/local/lib/python3.11/site-packages/pyspark
USER headrace
VOLUME /var/lib/headrace
EXPOSE 8081
CMD ["uvicorn", "config.asgi:application", "--host", "0.0.0.0", "--port", "8081"]
