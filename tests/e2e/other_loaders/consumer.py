"""Prints the values of a topic: `consumer.py ADDRESS TOPIC`.

A program of its own, in the environment of `requirements/target-kafka.txt`.
"""

import sys

from kafka import KafkaConsumer, TopicPartition


def main(address: str, topic: str) -> None:
    """Print the value of each message, partition by partition."""
    consumer = KafkaConsumer(
        bootstrap_servers=address,
        auto_offset_reset="earliest",
    )
    partitions = [
        TopicPartition(topic, each) for each in consumer.partitions_for_topic(topic)
    ]
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    for partition in partitions:
        consumer.seek_to_beginning(partition)
    while any(consumer.position(each) < ends[each] for each in partitions):
        for messages in consumer.poll(timeout_ms=1_000).values():
            for message in messages:
                sys.stdout.write(f"{message.value.decode()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
