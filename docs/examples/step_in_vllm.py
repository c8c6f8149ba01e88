"""vLLM's own scheduler with the steps of any device of this database.

What vLLM's scheduler hands a worker (vllm.v1.core.sched.output.SchedulerOutput) names for every request the tokens of
this step, and how many were computed before: all that a step needs. Call step_of() where a worker would execute the
model, and let the clock advance by it.
"""


def batch_of(output):
    """(new tokens, cached positions) of every request of a SchedulerOutput."""
    computed = {request.req_id: request.num_computed_tokens for request in output.scheduled_new_reqs}
    cached = output.scheduled_cached_reqs
    computed.update(zip(cached.req_ids, cached.num_computed_tokens))
    return [(tokens, computed[request]) for request, tokens in output.num_scheduled_tokens.items() if tokens > 0]


def step_of(engine, output):
    """Seconds, joules and the 90 % interval of the step that the scheduler put together; None where it is empty."""
    batch = batch_of(output)
    return engine.step(batch) if batch else None
