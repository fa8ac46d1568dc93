// Published networks as modules of the C interface.
#include "argand/c/module.h"
#include "argand/models/models.h"

using namespace argand;
using namespace argand::c;

namespace {

class Network final : public AnyModule {
 public:
  explicit Network(std::shared_ptr<models::ConvNet> net) : net_(std::move(net)) {}

  std::string type_name() const override { return net_->name(); }
  std::vector<std::string> names(argand_module_part part) const override {
    if (part == ARGAND_METHODS) return {"forward"};
    ARGAND_THROW(NotImplementedError, "argand_module_names: of ", net_->name(),
                 ", a published network, only the methods are listed; argand_module_state_dict() has its tensors");
  }
  std::string signature(const std::string& method) const override {
    check_method(method);
    return "forward(x: Tensor) -> Tensor";
  }
  IValue call(const std::string& method, std::vector<IValue> arguments,
              const std::unordered_map<std::string, IValue>& named) override {
    check_method(method);
    ARGAND_CHECK(ValueError, named.empty(), net_->name(), " takes its argument by position");
    ARGAND_CHECK(ValueError, arguments.size() == 1 && arguments[0].isTensor(), net_->name(), " takes one tensor, got ",
                 arguments.size(), arguments.size() == 1 ? " value of another kind" : " values");
    return net_->forward(arguments[0].toTensor());
  }
  IValue get(const std::string& name) const override {
    const StateDict all[] = {parameters(), buffers()};
    for (const StateDict& tensors : all)
      if (const Tensor* const found = tensors.find(name)) return *found;
    ARGAND_THROW(ValueError, net_->name(), " has no parameter or buffer '", name, "'");
  }
  void set(const std::string& name, IValue) override {
    ARGAND_THROW(
        NotImplementedError, "argand_module_set: '", name, "' of ", net_->name(),
        ": the attributes of a published network are not set; argand_module_load_state_dict() sets its tensors");
  }
  std::unique_ptr<AnyModule> child(const std::string& name) const override {
    ARGAND_THROW(NotImplementedError, "argand_module_child: '", name, "' of ", net_->name(),
                 ": a published network does not give out its parts");
  }
  void train(bool on) override { net_->train(on); }
  bool is_training() const override { return net_->is_training(); }
  void to(std::optional<Device> device, std::optional<ScalarType> dtype) override {
    if (device && dtype)
      net_->to(*device, *dtype);
    else if (dtype)
      net_->to(*dtype);
    else if (device)
      net_->to(*device);
  }
  void fuse() override { net_->fuse(); }
  StateDict parameters() const override { return net_->named_parameters(); }
  StateDict buffers() const override { return net_->named_buffers(); }
  StateDict state_dict() const override { return net_->state_dict(); }
  void load_state_dict(const StateDict& state, bool strict) override { net_->load_state_dict(state, strict); }

 private:
  void check_method(const std::string& method) const {
    ARGAND_CHECK(ValueError, method == "forward", "Method '", method, "' is not defined in ", net_->name(),
                 ", which has 'forward'");
  }
  const std::shared_ptr<models::ConvNet> net_;
};

}  // namespace

argand_error* argand_module_new(const char* name, const char* weights, int64_t num_classes, argand_module** result) {
  return guarded([&] {
    const char* const function = "argand_module_new";
    needed(name, function, "name");
    std::optional<int64_t> classes;
    if (num_classes != 0) classes = num_classes;
    needed(result, function, "result");
    give(result, function, std::make_unique<Network>(models::make_model(name, weights ? weights : "", classes)));
  });
}
