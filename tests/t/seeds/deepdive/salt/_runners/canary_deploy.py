"""Canary deployment runner."""

def execute(app_name, version, canary_target="web-canary*", full_target="web*"):
    """
    Deploy to canary hosts first, verify, then roll out to all.

    CLI Example:
        salt-run canary_deploy.execute myapp v2.3.1
    """
    client = __salt__["salt.cmd"]

    # Step 1: Deploy to canary
    canary_result = __salt__["salt.execute"](
        canary_target, "deploy.release",
        kwarg={"app_name": app_name, "version": version},
    )

    canary_success = all(
        r.get("success", False) for r in canary_result.values()
    )

    if not canary_success:
        return {
            "stage": "canary",
            "success": False,
            "message": "Canary deployment failed, aborting",
            "details": canary_result,
        }

    # Step 2: Wait and monitor canary
    import time
    time.sleep(60)  # Wait for metrics to settle

    health_results = __salt__["salt.execute"](
        canary_target, "deploy.health_check",
        kwarg={"app_name": app_name},
    )

    canary_healthy = all(
        r.get("healthy", False) for r in health_results.values()
    )

    if not canary_healthy:
        # Rollback canary
        __salt__["salt.execute"](
            canary_target, "deploy.rollback",
            kwarg={"app_name": app_name},
        )
        return {
            "stage": "canary_verification",
            "success": False,
            "message": "Canary health check failed, rolled back",
        }

    # Step 3: Full rollout
    full_result = __salt__["salt.execute"](
        full_target, "deploy.release",
        kwarg={"app_name": app_name, "version": version},
    )

    return {
        "stage": "complete",
        "success": all(r.get("success", False) for r in full_result.values()),
        "canary_hosts": list(canary_result.keys()),
        "total_hosts": list(full_result.keys()),
        "version": version,
    }
