# The same job for the official Python SDK: read one turn of the agent given as the argument, count the pieces of text.
import asyncio, json, resource, sys, time
from droid_sdk import Runtime, Session

async def main():
    # it writes the protocol's words for itself; the agent is a program that understands them
    async with Session(cwd="/", runtime=Runtime(executable=sys.argv[1])) as session:
        start, seen = time.perf_counter(), 0
        async with session.stream("go", include_partial_messages=True) as stream:
            async for event in stream:
                seen += type(event).__name__ == "TextDelta"
        wall = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seen": seen, "wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "memory_kib": usage.ru_maxrss}))

asyncio.run(main())
