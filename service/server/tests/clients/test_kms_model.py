"""Every operation of botocore's model is carried out or refused on purpose, and the model still speaks JSON."""

from botocore.exceptions import ClientError

# The errors that a request without anything may get. Anything else is wrong, above all UnknownOperationException.
EXPECTED = {"ValidationException", "UnsupportedOperationException"}


def test_every_operation_is_known(service, credential):
    kms = service.kms(credential, parameter_validation=False)
    model = kms.meta.service_model
    assert "json" in model.metadata.get("protocols", [model.metadata["protocol"]])
    methods = {operation: method for method, operation in kms.meta.method_to_api_mapping.items()}
    told = {}
    for operation in model.operation_names:
        try:
            getattr(kms, methods[operation])()
        except ClientError as error:
            told[operation] = error.response["Error"]["Code"]
    assert set(told.values()) <= EXPECTED, told
